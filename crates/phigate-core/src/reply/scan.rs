//! Looking for PHI in one field of one choice, sentence by sentence.
//!
//! Text is held until its sentence or line ends, and then judged together with the text before it. It takes one
//! character at a time, so that what comes out cannot depend on how a stream was cut.

use std::ops::Range;

use phi_detect::{Findings, PhiKind};
use phigate_types::Replies;

use crate::protect::Scanner;

use super::Stop;
use super::echo::Echoes;
use super::restore::tokens_in;
use super::sentence::{ends_at, ends_sentence};
use super::tally::Tally;
use super::token::Issued;
use super::unit::{Spot, Unit};

/// Characters that are held at most.
const HELD_MAX: usize = 400;

/// Number of held characters after which the rest stays held: a finding may begin there and not have ended.
const SETTLED_MAX: usize = 360;

/// Position at which a text without any blank is cut.
const UNBROKEN_CUT: usize = 300;

/// Bytes of the text before that are looked at again, to judge what follows.
const CONTEXT_BYTES: usize = 320;

/// Rules for scanning one reply.
pub(super) struct ScanRules<'r> {
    pub(super) scanner: &'r Scanner,
    pub(super) action: Replies,
    pub(super) echoes: &'r Echoes,
    pub(super) issued: &'r Issued,
    /// Whether the first finding ends a reply that is to be blocked: nothing of a stream may follow it.
    pub(super) is_stream: bool,
}

/// Scans one field.
pub(super) struct FieldScanner {
    units: Vec<Unit>,
    /// The characters of the units.
    text: String,
    /// Text before, as the provider wrote it.
    context: String,
    /// The key that labels this text, if it is in JSON.
    label: Option<String>,
    is_open: bool,
}

impl FieldScanner {
    pub(super) fn new() -> Self {
        Self {
            units: Vec::new(),
            text: String::new(),
            context: String::new(),
            label: None,
            is_open: false,
        }
    }

    /// Takes the next character. `label` names the text that begins with it, if one does.
    pub(super) fn take(
        &mut self,
        rules: &ScanRules<'_>,
        unit: Unit,
        label: Option<&str>,
        tally: &mut Tally,
        out: &mut Vec<Unit>,
    ) -> Result<(), Stop> {
        if unit.spot == Spot::Structure {
            self.finish(rules, tally, out)?;
            out.push(unit);
            return Ok(());
        }
        if !self.is_open {
            self.is_open = true;
            self.label = label.filter(|_| unit.spot != Spot::Key).map(str::to_owned);
        }
        if unit.character.is_whitespace() && ends_sentence(&self.text) {
            self.decide_all(rules, tally, out)?;
        }
        self.units.push(unit);
        self.text.push(unit.character);
        if ends_at(unit.character) {
            self.decide_all(rules, tally, out)
        } else if self.units.len() >= HELD_MAX {
            self.decide_some(rules, tally, out)
        } else {
            Ok(())
        }
    }

    /// The text ends: all of it is judged.
    pub(super) fn finish(
        &mut self,
        rules: &ScanRules<'_>,
        tally: &mut Tally,
        out: &mut Vec<Unit>,
    ) -> Result<(), Stop> {
        self.decide_all(rules, tally, out)?;
        self.is_open = false;
        self.context.clear();
        Ok(())
    }

    fn decide_all(
        &mut self,
        rules: &ScanRules<'_>,
        tally: &mut Tally,
        out: &mut Vec<Unit>,
    ) -> Result<(), Stop> {
        if self.text.is_empty() {
            return Ok(());
        }
        let found = self.find(rules)?;
        self.release(rules, self.text.len(), &found, tally, out)
    }

    /// A sentence without end: what no longer belongs to anything that follows is judged.
    fn decide_some(
        &mut self,
        rules: &ScanRules<'_>,
        tally: &mut Tally,
        out: &mut Vec<Unit>,
    ) -> Result<(), Stop> {
        let found = self.find(rules)?;
        let cut = self.cut(&found);
        self.release(rules, cut, &found, tally, out)
    }

    /// Returns the position to cut at: after the last blank that is in no finding and has enough behind it.
    fn cut(&self, found: &[Found]) -> usize {
        let is_inside = |at: usize| {
            found
                .iter()
                .find(|one| one.span.start < at && at < one.span.end)
        };
        let (mut after_blank, mut unbroken, mut at) = (None, self.text.len(), 0);
        for (index, character) in self.text.chars().enumerate() {
            if index == UNBROKEN_CUT {
                unbroken = at;
            }
            at += character.len_utf8();
            if index < SETTLED_MAX && character.is_whitespace() && is_inside(at).is_none() {
                after_blank = Some(at);
            }
        }
        after_blank.unwrap_or_else(|| match is_inside(unbroken) {
            Some(one) if one.span.start > 0 => one.span.start,
            Some(one) => one.span.end,
            None => unbroken,
        })
    }

    /// The findings in what is held, by their place in it.
    fn find(&self, rules: &ScanRules<'_>) -> Result<Vec<Found>, Stop> {
        if !self.text.contains(char::is_alphanumeric) || self.is_word_of_a_program() {
            return Ok(Vec::new());
        }
        let joined = format!("{}{}", self.context, self.text);
        let findings = rules.scanner.scan_text(self.label.as_deref(), &joined);
        if !findings.is_complete() {
            return Err(Stop::Unfinished);
        }
        let tokens = tokens_in(rules.issued, &joined);
        let mut found = Vec::new();
        for (kind, span) in outside_of_tokens(&findings, &tokens) {
            let start = span.start.max(self.context.len());
            let part = joined.get(start..span.end).unwrap_or_default();
            // A place that is generalized in requests has the comma before its state, which stays in replies.
            let part = part.trim_end_matches([',', ' ']);
            let loose = part.len() - part.trim_start_matches(|c: char| !is_value(c)).len();
            if loose < part.len() {
                let start = start - self.context.len();
                found.push(Found {
                    kind,
                    is_echo: rules.echoes.holds(kind, &joined[span.clone()]),
                    span: start + loose..start + part.len(),
                });
            }
        }
        Ok(found)
    }

    /// Whether the text is a word of a program (`first_name`): most keys are, and no rule finds anything in such a key.
    fn is_word_of_a_program(&self) -> bool {
        let is_key = self
            .units
            .first()
            .is_some_and(|unit| unit.spot == Spot::Key);
        let mut bytes = self.text.bytes();
        is_key && bytes.all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    }

    /// Gives out this many bytes of what is held, with their findings dealt with.
    fn release(
        &mut self,
        rules: &ScanRules<'_>,
        length: usize,
        found: &[Found],
        tally: &mut Tally,
        out: &mut Vec<Unit>,
    ) -> Result<(), Stop> {
        let found: Vec<&Found> = found.iter().filter(|one| one.span.end <= length).collect();
        for one in &found {
            if one.is_echo {
                tally.echoes += 1;
            } else {
                *tally.found.entry(one.kind).or_default() += 1;
            }
        }
        let has_new = found.iter().any(|one| !one.is_echo);
        if has_new && rules.action == Replies::Block && rules.is_stream {
            return Err(Stop::Blocked);
        }
        self.write(rules.action, length, &found, out);
        self.remember(length);
        Ok(())
    }

    fn write(&mut self, action: Replies, length: usize, found: &[&Found], out: &mut Vec<Unit>) {
        let is_number = self.is_number();
        let mut changes = found
            .iter()
            .filter(|one| !one.is_echo)
            .filter_map(|one| Some((one.span.clone(), stand_in(action, one.kind)?)))
            .peekable();
        let (mut at, mut taken) = (0, 0);
        while taken < self.units.len() && at < length {
            let change = changes.next_if(|(span, _)| is_number || span.start <= at);
            let end = match &change {
                Some(_) if is_number => length,
                Some((span, _)) => span.end,
                None => at,
            };
            if let Some((_, stand_in)) = change {
                write_stand_in(stand_in, is_number, self.units[taken].spot, out);
            } else {
                out.push(self.units[taken]);
                at += self.units[taken].character.len_utf8();
                taken += 1;
            }
            while at < end && taken < self.units.len() {
                at += self.units[taken].character.len_utf8();
                taken += 1;
            }
        }
        self.units.drain(..taken);
    }

    /// Whether this is a number of JSON, which can only be replaced as a whole.
    fn is_number(&self) -> bool {
        let is_bare = self
            .units
            .first()
            .is_some_and(|unit| unit.spot == Spot::Bare);
        is_bare && self.text.trim().parse::<f64>().is_ok()
    }

    fn remember(&mut self, length: usize) {
        self.context.push_str(&self.text[..length]);
        self.text.drain(..length);
        if self.context.len() > CONTEXT_BYTES {
            let mut from = self.context.len() - CONTEXT_BYTES;
            while !self.context.is_char_boundary(from) {
                from += 1;
            }
            // A number cut in half would be another number.
            let blank = self.context[from..].find(char::is_whitespace);
            self.context.drain(..from + blank.unwrap_or(0));
        }
    }
}

/// A finding in what is held.
struct Found {
    kind: PhiKind,
    span: Range<usize>,
    is_echo: bool,
}

fn is_value(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '(' | '+' | '"')
}

/// Returns the replacement of a finding; `None` if it stays.
fn stand_in(action: Replies, kind: PhiKind) -> Option<&'static str> {
    match action {
        Replies::Off | Replies::Flag | Replies::Block => None,
        Replies::Mask => Some(kind.placeholder()),
        Replies::Redact => Some(""),
    }
}

/// A number becomes a text, or nothing: the arguments stay JSON.
fn write_stand_in(stand_in: &str, is_number: bool, spot: Spot, out: &mut Vec<Unit>) {
    let text = match (is_number, stand_in) {
        (true, "") => "null".to_owned(),
        (true, _) => format!("\"{stand_in}\""),
        (false, _) => stand_in.to_owned(),
    };
    let spot = if is_number { Spot::Structure } else { spot };
    out.extend(text.chars().map(|character| Unit::plain(character, spot)));
}

/// Returns the parts of findings that are outside of tokens.
fn outside_of_tokens(findings: &Findings, tokens: &[Range<usize>]) -> Vec<(PhiKind, Range<usize>)> {
    let mut out = Vec::new();
    for finding in findings {
        let first = tokens.partition_point(|token| token.end <= finding.span.start);
        let mut start = finding.span.start;
        for token in &tokens[first..] {
            if token.start >= finding.span.end {
                break;
            }
            if start < token.start {
                out.push((finding.kind, start..token.start));
            }
            start = start.max(token.end);
        }
        if start < finding.span.end {
            out.push((finding.kind, start..finding.span.end));
        }
    }
    out
}
