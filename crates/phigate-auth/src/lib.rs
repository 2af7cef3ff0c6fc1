//! How the gateway authenticates at the clouds: signatures and tokens, and where they come from.
//!
//! An [`Identity`] says who the gateway is at one provider. Before each call [`Identity::headers`] gives what the call
//! must carry: a signature made from the call itself, or a token that is asked for once, kept in memory and renewed
//! ahead of its end. Nothing here opens a connection, a database or a page: whoever acts lends a [`Fetch`], so that
//! every rule about addresses, sizes and times holds for token endpoints too.
//!
//! | File | What |
//! |---|---|
//! | `identity.rs` | the way in: one identity, and what a call must carry |
//! | `secret.rs` | secrets as owners give them, checked before they are stored |
//! | `rsa_key.rs` | the keys of service accounts |
//! | `lease.rs` | one token or key pair: renewed ahead by one caller, failures shared |
//! | `aws/` | Signature Version 4, and the places where AWS hands out credentials |
//! | `entra.rs`, `google.rs` | tokens of Microsoft and of Google |
//! | `machine.rs` | the machine's own identity: its variables and files |
//! | `fetch.rs` | what is asked of whoever has connections |

mod aws;
mod call;
mod entra;
mod error;
mod fetch;
mod google;
mod identity;
mod lease;
mod machine;
mod rsa_key;
mod secret;
mod token;

pub use call::ToSign;
pub use error::{AuthError, Reason};
pub use fetch::{Answer, Ask, Fetch, FetchError, Method, Place};
pub use identity::{Identity, Proof, Scheme};
pub use machine::Machine;
pub use secret::{Secret, SecretError};
pub use token::clock_skew_s;
