//! The proof that a record was written, required for sending a request to a provider.

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

/// Durability of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Synced to disk.
    Durable,
    /// Queued and written a moment later: a clean request in flag mode, which needs no proof.
    Queued,
}

impl Written {
    pub(super) fn new(durability: Durability) -> Self {
        Self { durability }
    }

    /// Durability of the record.
    pub fn durability(&self) -> Durability {
        self.durability
    }
}
