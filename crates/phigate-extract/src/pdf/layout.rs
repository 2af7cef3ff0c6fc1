//! Text of a page from the places of its characters.
//!
//! Characters beside each other are read together, in whatever order they are written. Text over other text is a separate
//! line, so that neither hides the other.

use super::state::Glyph;

/// Gap between words, in multiples of the size.
const WORD: f64 = 0.18;

/// Difference of distances that are the same.
const EVEN: f64 = 0.02;

/// Gap between columns.
const COLUMN: f64 = 2.0;

/// Distance between the baselines of one line.
const LINE: f64 = 0.35;

/// Most that a character may overlap with the one before it.
const OVERLAP: f64 = 0.5;

/// Columns that are considered for the next stretch of a line.
const COLUMNS: usize = 64;

/// Characters of one line, beside each other.
struct Stretch {
    text: String,
    /// Direction in steps of 1/64.
    direction: (i32, i32),
    /// Place along the direction and across it.
    start: f64,
    end: f64,
    across: f64,
    size: f64,
    /// Start of the last character, and its distance from the one before.
    last: f64,
    pitch: Option<f64>,
    /// Whether the last character is written alone.
    is_alone: bool,
    /// Position in the order of writing.
    order: usize,
    line: usize,
}

/// Text of a page.
pub(super) struct Text {
    /// In the order of writing.
    pub(super) written: String,
    /// From top to bottom and left to right, if that is another order.
    pub(super) seen: Option<String>,
}

/// Returns lines in which a number is broken after a hyphen, with the line that follows.
pub(super) fn broken(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut joined = String::new();
    for pair in lines.windows(2) {
        let ends = pair[0]
            .strip_suffix('-')
            .is_some_and(|line| line.ends_with(|each: char| each.is_ascii_digit()));
        if ends && pair[1].starts_with(|each: char| each.is_ascii_digit()) {
            joined.push_str(pair[0]);
            joined.push_str(pair[1]);
            joined.push('\n');
        }
    }
    joined
}

/// Returns the text of a page.
pub(super) fn text(glyphs: &[Glyph]) -> Text {
    let mut stretches = join(as_written(glyphs));
    let seen = lines(&stretches);
    stretches.sort_by_key(|stretch| stretch.order);
    let written = lines(&stretches);
    let seen = (seen != written).then_some(seen);
    Text { written, seen }
}

fn steps(value: f64) -> i32 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a part of a direction of length 1"
    )]
    let steps = (value.clamp(-1.0, 1.0) * 64.0).round() as i32;
    steps
}

impl Stretch {
    fn of(glyph: &Glyph, order: usize) -> Self {
        let (cos, sin) = glyph.direction;
        let start = glyph.x * cos + glyph.y * sin;
        Self {
            text: glyph.text.clone().unwrap_or_default(),
            direction: (steps(cos), steps(sin)),
            start,
            end: start + glyph.width,
            across: glyph.y * cos - glyph.x * sin,
            size: glyph.size.max(1e-9),
            last: start,
            pitch: None,
            is_alone: glyph.is_alone,
            order,
            line: 0,
        }
    }

    /// Returns the gap to what follows, if that is on the same line and close enough.
    fn gap(&self, next: &Self) -> Option<f64> {
        let size = self.size.max(next.size);
        let gap = (next.start - self.end) / size;
        let is_beside = self.direction == next.direction
            && (self.across - next.across).abs() < LINE * size
            && (-OVERLAP..COLUMN).contains(&gap);
        is_beside.then_some(gap)
    }

    fn push(&mut self, next: &Self, gap: f64) {
        let has_space =
            self.text.ends_with(char::is_whitespace) || next.text.starts_with(char::is_whitespace);
        // Characters that are placed one by one, at the same distances, are one word.
        let pitch = next.start - self.last;
        let is_even = self.is_alone
            && next.is_alone
            && self
                .pitch
                .is_some_and(|last| (last - pitch).abs() < EVEN * self.size);
        if gap > WORD && !has_space && !is_even {
            self.text.push(' ');
        }
        (self.last, self.pitch) = (next.last, next.pitch.or(Some(pitch)));
        self.is_alone = next.is_alone;
        self.text.push_str(&next.text);
        self.end = self.end.max(next.end);
        self.size = self.size.max(next.size);
        self.order = self.order.min(next.order);
    }
}

/// Joins characters that are written one after the other.
fn as_written(glyphs: &[Glyph]) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    for (order, glyph) in glyphs.iter().enumerate() {
        let next = Stretch::of(glyph, order);
        let gap = stretches.last().and_then(|last| last.gap(&next));
        match (stretches.last_mut(), gap) {
            (Some(last), Some(gap)) => last.push(&next, gap),
            _ => stretches.push(next),
        }
    }
    stretches
}

/// Joins stretches beside each other. They come back from top to bottom.
fn join(mut stretches: Vec<Stretch>) -> Vec<Stretch> {
    stretches.sort_by(|a, b| {
        let by_line = a
            .direction
            .cmp(&b.direction)
            .then(b.across.total_cmp(&a.across));
        by_line.then(a.order.cmp(&b.order))
    });
    let (mut joined, mut line, mut number) = (Vec::new(), Vec::<Stretch>::new(), 0);
    for stretch in stretches {
        let is_next = line.first().is_some_and(|first| {
            let distance = (first.across - stretch.across).abs();
            first.direction != stretch.direction || distance >= LINE * first.size.max(stretch.size)
        });
        if is_next {
            joined.extend(columns(std::mem::take(&mut line), number));
            number += 1;
        }
        line.push(stretch);
    }
    joined.extend(columns(line, number));
    joined
}

/// Joins the stretches of a line.
fn columns(mut line: Vec<Stretch>, number: usize) -> Vec<Stretch> {
    line.sort_by(|a, b| a.start.total_cmp(&b.start));
    let mut columns: Vec<Stretch> = Vec::new();
    for mut next in line {
        next.line = number;
        let near = columns.iter_mut().rev().take(COLUMNS);
        let near = near.filter_map(|column| column.gap(&next).map(|gap| (column, gap)));
        match near.min_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs())) {
            Some((column, gap)) => column.push(&next, gap),
            None => columns.push(next),
        }
    }
    columns
}

/// Writes stretches as lines; columns are apart by tabs.
fn lines(stretches: &[Stretch]) -> String {
    let mut text = String::new();
    let mut last = None;
    for stretch in stretches {
        let words = stretch.text.trim();
        if words.is_empty() {
            continue;
        }
        if let Some(last) = last {
            text.push(if last == stretch.line { '\t' } else { '\n' });
        }
        text.push_str(words);
        last = Some(stretch.line);
    }
    text
}
