//! Turns of large request bodies: between two rounds of all other work, a thread reads one piece of one body.
//!
//! Otherwise a body that arrives as fast as it is read would be read to its end first, and many bodies with a turn per
//! round would delay every small request by a piece of each.

use std::pin::Pin;
use std::sync::LazyLock;

use tokio::sync::Mutex;

use crate::threads::PerThread;

/// Bytes read per turn, or written at once.
pub const TURN_BYTES: usize = 64 * 1024;

/// Lock of the body whose turn it is; first come, first served.
static TURNS: LazyLock<PerThread<Mutex<()>>> = LazyLock::new(|| PerThread::new(Mutex::default));

/// Future that resolves at the next turn.
pub(crate) type BodyTurn = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Waits for the turn of a body. The future must be polled when woken; until then it blocks the turns behind it.
pub(crate) fn next_body_turn() -> BodyTurn {
    Box::pin(async {
        let _turn = TURNS.mine().lock().await;
        tokio::task::yield_now().await;
    })
}

#[cfg(test)]
mod tests {
    use futures_util::poll;

    use super::*;

    #[tokio::test]
    async fn bodies_take_turns_in_order() {
        let mut waiting: Vec<_> = (0..5).map(|_| next_body_turn()).collect();
        for turn in &mut waiting {
            assert!(poll!(turn).is_pending());
        }
        // The second body in the queue is dropped.
        drop(waiting.remove(1));
        while !waiting.is_empty() {
            // Other tasks run once more.
            tokio::task::yield_now().await;
            assert!(
                poll!(&mut waiting[0]).is_ready(),
                "the first body has its turn"
            );
            drop(waiting.remove(0));
            for turn in &mut waiting {
                assert!(
                    poll!(turn).is_pending(),
                    "two bodies had a turn in one round"
                );
            }
        }
    }
}
