//! Authentication at the clouds: signatures, tokens and their sources.
//!
//! An [`Identity`] is the gateway's identity at one provider. Before each call, [`Identity::headers`] returns its
//! credentials: a signature of the call itself, or a token that is fetched once, kept in memory and renewed early. This
//! crate opens no connection, database or page: the caller passes a [`Fetch`], so that its rules about addresses, sizes
//! and timeouts hold for token endpoints too.
//!
//! | File | Purpose |
//! |---|---|
//! | `identity.rs` | entry point: one identity and the headers of a call |
//! | `secret.rs` | owners' secrets, checked before they are stored |
//! | `jwt.rs` | JSON Web Tokens: signatures, and the claims of callers |
//! | `id_token.rs` | claims of people: ID tokens and logout tokens |
//! | `rsa_key.rs` | keys of service accounts |
//! | `lease.rs` | one token or key pair: renewed early by one caller, failures shared |
//! | `aws/` | Signature Version 4, and sources of AWS credentials |
//! | `entra.rs`, `google.rs` | tokens of Microsoft and of Google |
//! | `machine.rs` | the machine's identity: its variables and files |
//! | `client.rs` | proofs of a client of OpenID Connect at its token endpoint |
//! | `fetch.rs` | requests for tokens, and the trait that sends them |

mod aws;
mod call;
mod client;
mod entra;
mod error;
mod fetch;
mod google;
mod id_token;
mod identity;
mod jwt;
mod lease;
mod machine;
mod rsa_key;
mod secret;
mod token;
mod token_use;
mod webhook;

pub use aws::{S3Keys, object_checksum};
pub use call::ToSign;
pub use client::{client_credentials, code_challenge};
pub use error::{AuthError, Reason};
pub use fetch::{Answer, Ask, Fetch, FetchError, Method, Place, escaped};
pub use id_token::{LoginClaims, LoginError, LoginWanted, LogoutClaims};
pub use identity::{Identity, Proof, Scheme};
pub use jwt::{JwtError, KeySet, Token, Wanted};
pub use machine::Machine;
pub use secret::{Secret, SecretError};
pub use token::clock_skew_s;
pub use token_use::TokenUse;
pub use webhook::webhook_signature;
