//! Kernels with the same result on every processor.
//!
//! Sums of products of integers do not depend on the order in which they are added, and numbers with a fraction are added in one
//! fixed order, so plain Rust and the vector units agree to the bit; tests compare them.

#![allow(unsafe_code)]

#[cfg(target_arch = "aarch64")]
mod arm;
mod floats;
mod level;
mod products;
mod shapes;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use floats::{
    activate, normalise, probabilities, scale, scale_and_add, scale_to_whole, shares, to_whole,
};
pub use level::Level;
pub use products::products;
pub use shapes::{LANES, Pair, Weights};
