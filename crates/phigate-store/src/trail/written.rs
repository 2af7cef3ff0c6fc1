//! The proof that something was recorded. Whoever sends a request to a provider asks for it.

/// Proof that a decision or an attempt was recorded. Only the trail makes one, and sending consumes it.
///
/// ```compile_fail,E0451
/// // There is no other way to it.
/// let proof = phigate_store::Written { durability: phigate_store::Durability::Durable };
/// ```
#[derive(Debug)]
pub struct Written {
    durability: Durability,
}

/// How safe a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// It is on disk.
    Durable,
    /// It is queued and written a moment later: a clean request in flag mode, about which nothing needs proof.
    Queued,
}

impl Written {
    pub(super) fn new(durability: Durability) -> Self {
        Self { durability }
    }

    /// How safe the record is.
    pub fn durability(&self) -> Durability {
        self.durability
    }
}
