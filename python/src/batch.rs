//! A list of texts, shared between the processors.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Size below which scanning a text takes less time than starting threads.
const SHARED_BYTES_MIN: usize = 64 * 1024;

/// Works on each text; the results are in the order of the texts.
pub(crate) fn each<S, T>(texts: &[S], work: impl Fn(&str) -> T + Sync) -> Vec<T>
where
    S: AsRef<str> + Sync,
    T: Send,
{
    let bytes: usize = texts.iter().map(|text| text.as_ref().len()).sum();
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = processors.min(texts.len());
    if bytes < SHARED_BYTES_MIN || threads < 2 {
        return texts.iter().map(|text| work(text.as_ref())).collect();
    }
    // Texts differ in length: each finished thread takes the next text.
    let next = AtomicUsize::new(0);
    let share = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(text) = texts.get(index) else {
                return done;
            };
            done.push((index, work(text.as_ref())));
        }
    };
    let mut results: Vec<(usize, T)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(share)).collect();
        let shares = workers.into_iter().map(|worker| match worker.join() {
            Ok(share) => share,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        shares.flatten().collect()
    });
    results.sort_unstable_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
