//! Decoding of tag scores to candidates.
//!
//! Tokens that the gate let through come in runs. Over each run the best
//! sequence of tags is found in which a span begins before it goes on
//! (Viterbi, in integers), and its spans become candidates.

use std::ops::Range;

use super::simd::TAGS_MAX;
use super::weights::{STEPS, Weights};
use crate::budget::List;
use crate::candidate::Candidate;
use crate::kinds::PhiKind;

/// Kinds that the model distinguishes; only some of them are PHI that we report.
const KINDS: usize = 6;
/// The reported kinds, by their place among the model's: code, rule, and the fewest bytes to
/// believe; a lone letter or house number is more often a false alarm.
const REPORTED: [(&str, &str, usize); 3] = [
    // In the order of the model's tags.
    ("name", "name.model", 2),
    ("address", "address.model", 5),
    ("dob", "dob.model", 3),
];
/// A run this long is cut, so that memory stays bounded.
const RUN_MAX: usize = 1024;
/// Fractional bits of a score.
const SCORE_BITS: u32 = 11;

/// Rule of names below the reported score, and the scores from which they are likely and unlikely. They are not
/// reported.
pub(crate) const SUSPECTED: &str = "name.suspected";
pub(crate) const NEARLY: f32 = 0.2;
pub(crate) const HARDLY: f32 = 0.1;
/// Largest lag of a name that is still suspected.
const LAG_MAX: i64 = 2 << SCORE_BITS;

/// Collects runs and turns them into candidates.
pub(super) struct Decoder<'a> {
    weights: &'static Weights,
    out: &'a mut List<Candidate>,
    spans: Vec<(u32, u32)>,
    scores: Vec<[i32; TAGS_MAX]>,
    /// The state before, on the best way to each token and state.
    back: Vec<[u8; 2 * KINDS + 1]>,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(weights: &'static Weights, out: &'a mut List<Candidate>) -> Self {
        Decoder {
            weights,
            out,
            spans: Vec::new(),
            scores: Vec::new(),
            back: Vec::new(),
        }
    }

    /// Takes the scores of a token that follows the last one.
    pub(super) fn push(&mut self, span: (u32, u32), scores: [i32; TAGS_MAX]) {
        self.spans.push(span);
        self.scores.push(scores);
        if self.spans.len() >= RUN_MAX {
            self.flush();
        }
    }

    /// Ends the run.
    pub(super) fn flush(&mut self) {
        if self.scores.is_empty() {
            return;
        }
        let has_any = self.scores.iter().any(|scores| best_tag(scores) != 0);
        let tags = if has_any {
            self.best_path()
        } else {
            Vec::new()
        };
        self.emit(&tags);
        self.emit_suspected(&tags);
        self.spans.clear();
        self.scores.clear();
    }

    /// Returns the best valid sequence of tags: tag 0 is nothing, then begin and go on for each kind.
    fn best_path(&mut self) -> Vec<u8> {
        const STATES: usize = 2 * KINDS + 1;
        self.back.clear();
        let mut total = [i64::MIN / 2; STATES];
        total[0] = 0;
        for scores in &self.scores {
            let best = best_state(&total);
            let mut next = [0; STATES];
            let mut from = [best; STATES];
            for (state, next) in next.iter_mut().enumerate() {
                let goes_on = state != 0 && state % 2 == 0;
                if goes_on {
                    let begin = state - 1;
                    from[state] = if total[begin] >= total[state] {
                        begin
                    } else {
                        state
                    } as u8;
                }
                *next = total[usize::from(from[state])] + i64::from(scores[state]);
            }
            total = next;
            self.back.push(from);
        }
        let mut state = best_state(&total);
        let mut tags = vec![0; self.back.len()];
        for (tag, from) in tags.iter_mut().zip(&self.back).rev() {
            *tag = state;
            state = from[usize::from(state)];
        }
        tags
    }

    fn emit(&mut self, tags: &[u8]) {
        let mut token = 0;
        while token < tags.len() {
            let begin = tags[token];
            let start = token;
            token += 1;
            if begin == 0 {
                continue;
            }
            while tags.get(token) == Some(&(begin + 1)) {
                token += 1;
            }
            let model_kind = usize::from(begin - 1) / 2;
            let span = self.bytes(start..token);
            if let Some((code, rule, bytes_min)) = REPORTED.get(model_kind)
                && span.len() >= *bytes_min
                && let Some(kind) = PhiKind::from_code(code)
            {
                self.out.push(Candidate {
                    kind,
                    span,
                    score: self.confidence(model_kind, start..token, tags),
                    rule,
                });
            }
        }
    }

    /// Emits names that "nothing" beats by so little that the rest of the text may decide; no tags mean "nothing"
    /// everywhere.
    fn emit_suspected(&mut self, tags: &[u8]) {
        let (_, _, bytes_min) = REPORTED[0];
        let is_free = |token: usize| tags.get(token).is_none_or(|&tag| tag == 0);
        let mut token = 0;
        while token < self.scores.len() {
            let start = token;
            let mut lag = 0;
            while let Some(more) = self.lag(token, token > start).filter(|_| is_free(token)) {
                lag += more;
                token += 1;
            }
            if token == start {
                token += 1;
                continue;
            }
            let span = self.bytes(start..token);
            if span.len() >= bytes_min {
                let is_near = lag / (token - start) as i64 <= 1 << SCORE_BITS;
                let score = if is_near { NEARLY } else { HARDLY };
                self.out.push(Candidate {
                    kind: PhiKind::NAME,
                    span,
                    score,
                    rule: SUSPECTED,
                });
            }
        }
    }

    /// Returns the lag of a name behind the best other tag of a token, if the lag is little.
    fn lag(&self, token: usize, goes_on: bool) -> Option<i64> {
        let scores = self.scores.get(token)?;
        let name = if goes_on { scores[2] } else { scores[1] };
        let other = scores[3..=2 * KINDS]
            .iter()
            .fold(scores[0], |best, &score| best.max(score));
        let lag = i64::from(other) - i64::from(name);
        (lag <= LAG_MAX).then_some(lag)
    }

    fn bytes(&self, tokens: Range<usize>) -> Range<usize> {
        self.spans[tokens.start].0 as usize..self.spans[tokens.end - 1].1 as usize
    }

    /// Returns the measured precision, on texts kept out of training, of findings whose tags lead that far over
    /// "nothing" on average.
    fn confidence(&self, kind: usize, tokens: Range<usize>, tags: &[u8]) -> f32 {
        let count = tokens.len() as i64;
        let lead: i64 = tokens
            .map(|token| {
                let scores = &self.scores[token];
                i64::from(scores[usize::from(tags[token])]) - i64::from(scores[0])
            })
            .sum();
        let steps = (lead / count) >> (SCORE_BITS - 1);
        let step = steps.clamp(0, STEPS as i64 - 1) as usize;
        f32::from(self.weights.confidence[kind][step]) / 100.0
    }
}

/// Whether no run with this text can be reported at any score: only a name is as short as two characters, and a name
/// that short has no digit.
pub(super) fn is_too_short(run: &[u8]) -> bool {
    run.len() < 2 || run.len() == 2 && run.iter().any(u8::is_ascii_digit)
}

/// Returns the lead of the best tag of a reported kind over "nothing".
pub(super) fn reported_lead(scores: &[i32; TAGS_MAX]) -> i32 {
    let reported = scores[1..=2 * REPORTED.len()].iter();
    reported.fold(i32::MIN, |best, &score| best.max(score)) - scores[0]
}

fn best_tag(scores: &[i32; TAGS_MAX]) -> usize {
    let mut best = 0;
    for tag in 1..=2 * KINDS {
        if scores[tag] > scores[best] {
            best = tag;
        }
    }
    best
}

fn best_state(totals: &[i64]) -> u8 {
    let mut best = 0;
    for (state, total) in totals.iter().enumerate() {
        if *total > totals[best] {
            best = state;
        }
    }
    best as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortest_reported_text_is_not_too_short() {
        for (code, _, bytes_min) in REPORTED {
            let shortest = vec![b'x'; bytes_min];
            assert!(!is_too_short(&shortest), "{code}");
            let figures = vec![b'1'; bytes_min];
            assert!(code == "name" || !is_too_short(&figures), "{code}");
        }
        assert!(is_too_short(b"5") && is_too_short(b".") && is_too_short(b"40"));
    }
}
