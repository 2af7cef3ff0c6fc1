//! However a provider's bytes are cut, the caller gets the same: at least a hundred thousand random cuts.

use std::sync::Arc;

use crate::reply_support::chance::Chance;
use crate::reply_support::{events, play_stream, play_whole, rules};
use phigate_types::Replies;

/// Plays replies until there were this many cuts: of the text into deltas, and of the stream into pieces.
fn check(restores: bool, replies: Replies, seed: u64, cuts_min: usize) {
    let rules = Arc::new(rules(restores, replies));
    let (mut cuts, mut round) = (0, 0);
    while cuts < cuts_min {
        round += 1;
        let mut chance = Chance(seed + round);
        let texts = chance.texts();
        let (whole, whole_tally) = play_whole(&rules, &texts);
        let size_max = [1, 3, 12, 60][chance.next(4)];
        let stream = events(&texts, || 1 + chance.next(size_max));
        let deltas = stream.matches("data: ").count();
        let (pieces, count) = chance.cut(stream.as_bytes());
        let played = play_stream(&rules, pieces);
        let uncut = play_stream(&rules, [stream.as_bytes()]);
        assert_eq!(played.texts, uncut.texts, "seed {seed}, round {round}");
        assert_eq!(played.stop, uncut.stop, "seed {seed}, round {round}");
        match whole {
            Ok(whole) => {
                assert_eq!(played.texts, whole, "seed {seed}, round {round}");
                assert_eq!(played.tally, whole_tally, "seed {seed}, round {round}");
                assert!(played.is_done && played.finish.is_some());
            }
            Err(stop) => {
                assert_eq!(played.stop, Some(stop), "seed {seed}, round {round}");
                assert!(!played.is_done && played.finish.is_none());
            }
        }
        cuts += deltas + count;
    }
}

#[test]
fn restoring_is_the_same_for_every_cut() {
    check(true, Replies::Off, 1_000_000, 60_000);
}

#[test]
fn scanning_is_the_same_for_every_cut() {
    check(false, Replies::Mask, 2_000_000, 15_000);
    check(false, Replies::Redact, 3_000_000, 10_000);
    check(false, Replies::Block, 4_000_000, 10_000);
    check(false, Replies::Flag, 5_000_000, 5_000);
}

#[test]
fn restoring_with_scanning_is_cut_independent() {
    check(true, Replies::Mask, 6_000_000, 15_000);
    check(true, Replies::Block, 7_000_000, 10_000);
}
