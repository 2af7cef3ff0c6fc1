//! The reader's opinion about stretches of a text, piece by piece.

use std::cell::Cell;
use std::ops::Range;

use phi_kernels::Level;

use super::network::Window;
use super::pieces::{self, Piece};
use super::weights::Weights;
use super::{CLASSES, KINDS, KINDS_COUNT};
use crate::budget::Budget;
use crate::kinds::PhiKind;

/// Pieces that mark the ends of a window.
const FIRST: u16 = 0;
const LAST: u16 = 1;
/// Pieces at the edge of a window that are read again in the next, with more around them.
const MARGIN: usize = 16;

/// The reader's opinion about one piece.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opinion {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Probability that the piece is part of a value of one of the kinds asked for.
    pub(crate) share: f32,
    /// Probability that it is part of a value of another kind.
    pub(crate) other_share: f32,
    /// The likeliest of these kinds, and how likely it is.
    pub(crate) kind: PhiKind,
    pub(crate) kind_share: f32,
    /// Probability that a value of that kind begins here.
    pub(crate) begin_share: f32,
}

/// The reader's opinions about the same pieces: by the kinds of the specification, and by those beyond them.
#[derive(Default)]
pub(crate) struct Opinions {
    pub(crate) core: Vec<Opinion>,
    /// Empty unless a kind beyond the specification is looked for.
    pub(crate) beyond: Vec<Opinion>,
}

/// Reads stretches of a text, in order, and says of each piece with letters or figures what it may be.
///
/// Reading stops when the `budget` is spent.
pub(crate) fn read(
    level: Level,
    text: &str,
    stretches: &[Range<usize>],
    is_wanted: impl Fn(PhiKind) -> bool,
    budget: &Budget<'_>,
) -> Opinions {
    thread_local! {
        /// Memory of the scan before.
        static KEPT: Cell<Option<Box<Window>>> = const { Cell::new(None) };
    }
    let weights = Weights::get();
    let (core, beyond) = (kinds_of(true, &is_wanted), kinds_of(false, &is_wanted));
    let mut window = KEPT.take().unwrap_or_else(|| Box::new(Window::new()));
    let mut opinions = Opinions::default();
    let mut pieces = Vec::new();
    for stretch in stretches {
        pieces.clear();
        pieces::split(weights, text, stretch.start, stretch.end, &mut pieces);
        let room = weights.window - 2;
        let mut start = 0;
        loop {
            let end = pieces.len().min(start + room);
            if start == end || !budget.has_time() {
                break;
            }
            let inner = pieces[start..end].iter().map(|piece| piece.id);
            let ids = Ids(
                std::iter::once(FIRST)
                    .chain(inner)
                    .chain(std::iter::once(LAST)),
                end - start + 2,
            );
            let shares = window.read(level, ids);
            let row = shares.len() / (end - start + 2);
            let kept_from = if start == 0 { 0 } else { MARGIN };
            let kept_to = if end == pieces.len() {
                end - start
            } else {
                end - start - MARGIN
            };
            for place in kept_from..kept_to {
                let shares = &shares[(place + 1) * row..][..CLASSES];
                let piece = &pieces[start + place];
                opinions.core.extend(opinion(piece, shares, &core));
                opinions.beyond.extend(opinion(piece, shares, &beyond));
            }
            if end == pieces.len() {
                break;
            }
            start = end - 2 * MARGIN;
        }
    }
    KEPT.set(Some(window));
    opinions
}

/// The wanted kinds of the reader's classes: those of the specification, or those beyond it.
fn kinds_of(is_core: bool, is_wanted: impl Fn(PhiKind) -> bool) -> [Option<PhiKind>; KINDS_COUNT] {
    let mut codes = KINDS.lines();
    std::array::from_fn(|_| {
        let kind = PhiKind::from_code(codes.next()?);
        kind.filter(|kind| kind.is_core() == is_core && is_wanted(*kind))
    })
}

/// Piece ids of a window; their count is known.
struct Ids<I>(I, usize);

impl<I: Iterator<Item = u16>> Iterator for Ids<I> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.1, Some(self.1))
    }
}

impl<I: Iterator<Item = u16>> ExactSizeIterator for Ids<I> {
    fn len(&self) -> usize {
        self.1
    }
}

fn opinion(
    piece: &Piece,
    shares: &[f32],
    kinds: &[Option<PhiKind>; KINDS_COUNT],
) -> Option<Opinion> {
    if piece.start == piece.end {
        return None;
    }
    let (mut share, mut other_share) = (0.0, 0.0);
    let mut best = None;
    for (kind, two) in kinds.iter().zip(shares[1..].as_chunks::<2>().0) {
        let [begin, inside] = *two;
        let Some(kind) = *kind else {
            other_share += begin + inside;
            continue;
        };
        share += begin + inside;
        if best.is_none_or(|(_, most, _)| begin + inside > most) {
            best = Some((kind, begin + inside, begin));
        }
    }
    let (kind, kind_share, begin_share) = best?;
    Some(Opinion {
        start: piece.start,
        end: piece.end,
        share,
        other_share,
        kind,
        kind_share,
        begin_share,
    })
}
