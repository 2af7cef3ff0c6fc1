//! Progress on a terminal for long work; silent otherwise.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

const EVERY: Duration = Duration::from_millis(200);

/// Counts steps and prints the count to standard error, at most five times per second.
pub(super) struct Progress {
    what: &'static str,
    count: u64,
    is_terminal: bool,
    started: Instant,
    told: Instant,
}

impl Progress {
    /// Progress over items of this name.
    pub(super) fn new(what: &'static str) -> Self {
        let now = Instant::now();
        Self {
            what,
            count: 0,
            is_terminal: std::io::stderr().is_terminal(),
            started: now,
            told: now,
        }
    }

    /// Counts one item.
    pub(super) fn step(&mut self) {
        self.reach(self.count + 1);
    }

    /// Sets the count.
    pub(super) fn reach(&mut self, count: u64) {
        self.count = count;
        if self.is_terminal && self.told.elapsed() >= EVERY {
            self.told = Instant::now();
            eprint!(
                "\r{} {}, {:.0} s",
                self.count,
                self.what,
                self.started.elapsed().as_secs_f64()
            );
            let _ = std::io::stderr().flush();
        }
    }

    /// Clears the line.
    pub(super) fn done(&self) {
        if self.is_terminal && self.started.elapsed() >= EVERY {
            eprint!("\r\x1b[K");
        }
    }
}
