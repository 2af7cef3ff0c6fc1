//! Large bodies that come in take turns: between two rounds of all other work, a thread reads one piece of one of them.
//!
//! Where bytes come as fast as they are read, one body would otherwise be read to its end first, and many that had a turn
//! each round would make every small request beside them wait for a piece of each.

use std::pin::Pin;
use std::sync::LazyLock;

use tokio::sync::Mutex;

use crate::threads::PerThread;

/// What is read in a turn, or written at once.
pub const TURN_BYTES: usize = 64 * 1024;

/// Held by the body whose turn it is; first come, first served.
static TURNS: LazyLock<PerThread<Mutex<()>>> = LazyLock::new(|| PerThread::new(Mutex::default));

/// A wait for the next turn.
pub(crate) type BodyTurn = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Waits for the turn of a body. Whoever waits must be woken and asked, like a task: nobody else's turn comes before.
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
    async fn one_body_has_its_turn_at_a_time_in_the_order_they_came() {
        let mut waiting: Vec<_> = (0..5).map(|_| next_body_turn()).collect();
        for turn in &mut waiting {
            assert!(poll!(turn).is_pending());
        }
        // Somebody leaves, whose turn it would have been second.
        drop(waiting.remove(1));
        while !waiting.is_empty() {
            // All other work is done once more.
            tokio::task::yield_now().await;
            assert!(poll!(&mut waiting[0]).is_ready(), "the first has waited");
            drop(waiting.remove(0));
            for turn in &mut waiting {
                assert!(poll!(turn).is_pending(), "two in one round");
            }
        }
    }
}
