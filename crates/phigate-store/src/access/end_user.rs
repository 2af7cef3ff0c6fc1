//! Names of end users, as providers may see them.

use aws_lc_rs::hmac;
use phigate_verify::chain::hex;

use crate::access::Access;

impl Access {
    /// A keyed hash of an end user's name: constant per user, and not reversible without the key.
    pub fn hash_end_user(&self, account_id: &str, user: &str) -> String {
        let mut text = hmac::Context::with_key(&self.core.keyring.root.pepper);
        // A NUL separates the two, because account ids never contain it.
        for part in [b"end user\0", account_id.as_bytes(), b"\0", user.as_bytes()] {
            text.update(part);
        }
        hex(&text.sign().as_ref()[..16])
    }
}
