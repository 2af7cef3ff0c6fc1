//! The tests of the store on both engines, in one binary: nine would be linked nine times.

mod promises;
mod support;

mod adoption;
mod attacks;
mod contract;
mod faults;
mod moving;
mod sealed;
mod tamper;
mod tls;
mod torture;
