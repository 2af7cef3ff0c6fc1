//! Reports about connections and requests, for metrics.

use std::sync::Arc;

use crate::error::EdgeError;

/// Counts events at the edge. Implemented outside, because the edge has no metrics.
pub trait Observer: Send + Sync {
    /// A connection was opened (`+1`) or has ended (`-1`).
    fn connections(&self, change: i64);

    /// A request has begun (`+1`) or its answer is out (`-1`).
    fn requests(&self, change: i64);

    /// The edge refused a request.
    fn refused(&self, error: EdgeError);
}

/// Counter that is incremented while the value lives.
pub(crate) struct Counted {
    observer: Arc<dyn Observer>,
    count: fn(&dyn Observer, i64),
}

impl Counted {
    pub(crate) fn connection(observer: &Arc<dyn Observer>) -> Self {
        Self::new(observer, |observer, change| observer.connections(change))
    }

    pub(crate) fn request(observer: &Arc<dyn Observer>) -> Self {
        Self::new(observer, |observer, change| observer.requests(change))
    }

    fn new(observer: &Arc<dyn Observer>, count: fn(&dyn Observer, i64)) -> Self {
        count(observer.as_ref(), 1);
        Self {
            observer: Arc::clone(observer),
            count,
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.count)(self.observer.as_ref(), -1);
    }
}
