//! People whose password was right and whose code is still to come, and how patient we are with wrong codes.
//!
//! Kept in memory: on several replicas the second step must reach the replica of the first.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use phigate_store::User;

/// Time to open the app and type the code.
const PATIENCE: Duration = Duration::from_secs(5 * 60);
/// People halfway at once; the oldest have to start over.
const PEOPLE_MAX: usize = 1_000;
/// Wrong codes that cost nothing.
const FREE: u32 = 5;
const WAIT_MAX_S: u64 = 15 * 60;

/// Who is halfway, by the token of their form, and who mistyped, by user.
#[derive(Default)]
pub(crate) struct Halfway {
    people: Mutex<HashMap<String, (User, Instant)>>,
    mistakes: Mutex<HashMap<String, (u32, Instant)>>,
}

impl Halfway {
    /// The password was right.
    pub(crate) fn put(&self, form_token: &str, user: User) {
        let mut people = lock(&self.people);
        people.retain(|_, (_, since)| since.elapsed() < PATIENCE);
        if people.len() >= PEOPLE_MAX {
            let oldest = people
                .iter()
                .min_by_key(|(_, (_, since))| *since)
                .map(|(token, _)| token.clone());
            oldest.and_then(|token| people.remove(&token));
        }
        people.insert(form_token.to_owned(), (user, Instant::now()));
    }

    /// Who this is, while there is time.
    pub(crate) fn get(&self, form_token: &str) -> Option<User> {
        let people = lock(&self.people);
        people
            .get(form_token)
            .filter(|(_, since)| since.elapsed() < PATIENCE)
            .map(|(user, _)| user.clone())
    }

    /// The code was right too.
    pub(crate) fn take(&self, form_token: &str) {
        lock(&self.people).remove(form_token);
    }

    /// Seconds to wait before another code of this user is looked at.
    pub(crate) fn wait_s(&self, user_id: &str) -> Option<u64> {
        let mistakes = lock(&self.mistakes);
        let (count, last) = mistakes.get(user_id)?;
        pause_s(*count)
            .checked_sub(last.elapsed().as_secs())
            .filter(|wait| *wait > 0)
    }

    /// One more wrong code.
    pub(crate) fn failed(&self, user_id: &str) {
        let mut mistakes = lock(&self.mistakes);
        let entry = mistakes
            .entry(user_id.to_owned())
            .or_insert((0, Instant::now()));
        *entry = (entry.0.saturating_add(1), Instant::now());
    }

    /// A right code clears the slate.
    pub(crate) fn succeeded(&self, user_id: &str) {
        lock(&self.mistakes).remove(user_id);
    }
}

fn pause_s(mistakes: u32) -> u64 {
    match mistakes.checked_sub(FREE) {
        None => 0,
        Some(more) => 2u64
            .saturating_pow(more.min(20))
            .saturating_mul(2)
            .min(WAIT_MAX_S),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_codes_cost_more_and_more_time() {
        let halfway = Halfway::default();
        for _ in 0..4 {
            halfway.failed("somebody");
        }
        assert_eq!(halfway.wait_s("somebody"), None);
        halfway.failed("somebody");
        assert!(halfway.wait_s("somebody").is_some());
        assert_eq!(halfway.wait_s("somebody else"), None);
        halfway.succeeded("somebody");
        assert_eq!(halfway.wait_s("somebody"), None);
        let pauses: Vec<u64> = [4, 5, 6, 9, 30].map(pause_s).to_vec();
        assert_eq!(pauses, [0, 2, 4, 32, 900]);
    }
}
