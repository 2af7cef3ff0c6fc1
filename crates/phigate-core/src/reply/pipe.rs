//! One field of one choice, on its way to the caller: read, scanned, restored.

use super::ReplyRules;
use super::Stop;
use super::reader::{FieldReader, Shape};
use super::restore::{Restorer, Values};
use super::scan::{FieldScanner, ScanRules};
use super::tally::Tally;
use super::token::Issued;
use super::unit::{Spot, Unit};

/// Stages of a field. Equal text gives equal output, however it was cut.
pub(super) struct Pipe {
    reader: FieldReader,
    scanner: Option<FieldScanner>,
    restorer: Option<Restorer>,
    /// Between scanner and restorer; empty between calls.
    scanned: Vec<Unit>,
    /// Restored tokens that were counted.
    counted: u64,
    has_ended: bool,
}

/// State that all fields of one reply share.
pub(super) struct Shared<'s> {
    pub(super) rules: &'s ReplyRules,
    pub(super) tally: &'s mut Tally,
    pub(super) is_stream: bool,
}

impl Pipe {
    /// A pipe for a field of this shape. `restores` says whether tokens in it are replaced.
    pub(super) fn new(rules: &ReplyRules, shape: Shape, restores: bool) -> Self {
        Self {
            reader: FieldReader::new(shape),
            scanner: rules.scan.is_some().then(FieldScanner::new),
            restorer: (restores && !rules.issued.is_empty()).then(Restorer::new),
            scanned: Vec::new(),
            counted: 0,
            has_ended: false,
        }
    }

    /// Takes more of the field and writes what may go out.
    pub(super) fn push(
        &mut self,
        shared: &mut Shared<'_>,
        text: &str,
        out: &mut String,
    ) -> Result<(), Stop> {
        if self.scanner.is_none() && self.restorer.is_none() {
            out.push_str(text);
            return Ok(());
        }
        self.has_ended = false;
        let values = self.values(&shared.rules.issued);
        if let (None, Some(restorer), false) = (&self.scanner, &mut self.restorer, values.is_json) {
            for character in text.chars() {
                restorer.take(values, Unit::plain(character, Spot::Text), out);
            }
            self.count(shared);
            return Ok(());
        }
        for character in text.chars() {
            for unit in self.reader.step(character).into_iter().flatten() {
                if let Err(stop) = self.scan(shared, unit) {
                    self.end(shared, out);
                    return Err(stop);
                }
                self.give(&shared.rules.issued, out);
            }
        }
        self.count(shared);
        Ok(())
    }

    /// Ends the field and flushes the held text.
    pub(super) fn finish(&mut self, shared: &mut Shared<'_>, out: &mut String) -> Result<(), Stop> {
        if self.has_ended {
            return Ok(());
        }
        self.has_ended = true;
        let result = self.scan_rest(shared);
        self.end(shared, out);
        result
    }

    fn scan_rest(&mut self, shared: &mut Shared<'_>) -> Result<(), Stop> {
        if let Some(unit) = self.reader.finish() {
            self.scan(shared, unit)?;
        }
        match (&mut self.scanner, scan_rules(shared)) {
            (Some(scanner), Some(rules)) => scanner.finish(&rules, shared.tally, &mut self.scanned),
            _ => Ok(()),
        }
    }

    /// Writes the judged text, after which nothing follows.
    fn end(&mut self, shared: &mut Shared<'_>, out: &mut String) {
        self.give(&shared.rules.issued, out);
        let values = self.values(&shared.rules.issued);
        if let Some(restorer) = &mut self.restorer {
            restorer.finish(values, out);
        }
        self.count(shared);
    }

    fn scan(&mut self, shared: &mut Shared<'_>, unit: Unit) -> Result<(), Stop> {
        match (&mut self.scanner, scan_rules(shared)) {
            (Some(scanner), Some(rules)) => {
                let label = self.reader.label();
                scanner.take(&rules, unit, label, shared.tally, &mut self.scanned)
            }
            _ => {
                self.scanned.push(unit);
                Ok(())
            }
        }
    }

    /// Gives on what was scanned.
    fn give(&mut self, issued: &Issued, out: &mut String) {
        let values = self.values(issued);
        for unit in self.scanned.drain(..) {
            match &mut self.restorer {
                Some(restorer) => restorer.take(values, unit, out),
                None => unit.write(out),
            }
        }
    }

    fn values<'i>(&self, issued: &'i Issued) -> Values<'i> {
        Values {
            issued,
            is_json: self.reader.is_json(),
        }
    }

    fn count(&mut self, shared: &mut Shared<'_>) {
        let restored = self.restorer.as_ref().map_or(0, Restorer::restored);
        shared.tally.restored += restored - self.counted;
        self.counted = restored;
    }
}

fn scan_rules<'r>(shared: &Shared<'r>) -> Option<ScanRules<'r>> {
    let scan = shared.rules.scan.as_ref()?;
    Some(ScanRules {
        scanner: &scan.scanner,
        action: scan.action,
        echoes: &scan.echoes,
        issued: &shared.rules.issued,
        is_stream: shared.is_stream,
    })
}
