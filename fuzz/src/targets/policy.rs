//! A policy of random words: every level added to it leaves every kind as strictly treated as before, or more strictly.

use phi_detect::PhiKind;
use phigate_types::{Levels, Mode, Named, Policy, Word, Words};

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "policy",
    run,
    seeds: &[b"\x00\x01\x02\x03\x04\x05\x06\x07", b"policy of many words"],
};

/// One choice per byte; the first when the input is used up.
struct Choices<'b>(std::slice::Iter<'b, u8>);

impl Choices<'_> {
    fn below(&mut self, most: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or_default()) % most.max(1)
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn words<W: Copy>(&mut self, of: &[W]) -> Words<W> {
        let kinds: Vec<PhiKind> = PhiKind::all().collect();
        let count = self.below(4);
        let words = (0..count).map(|_| (self.one(&kinds).code().into(), self.one(of)));
        words.collect()
    }
}

fn run(bytes: &[u8]) {
    let mut choices = Choices(bytes.iter());
    let modes: Vec<Mode> = Mode::all().collect();
    let words: Vec<Word> = Word::all().collect();
    let mut levels = Levels {
        mode: choices.one(&modes),
        account: choices.words(&words),
        ..Levels::default()
    };
    let mut named = |name: &'static str| Named {
        name: name.into(),
        words: choices.words(&modes),
    };
    let (group, key) = (named("group"), named("key"));
    let mut steps = vec![Policy::of_levels(levels.clone())];
    levels.group = Some(group);
    steps.push(Policy::of_levels(levels.clone()));
    levels.key = Some(key);
    let policy = Policy::of_levels(levels);
    let provider = policy.clone().at_provider("p", Some(choices.one(&modes)));
    let request = provider.clone().on_request(Some(choices.one(&modes)));
    steps.extend([policy, provider, request]);
    for kind in PhiKind::all() {
        let strengths = steps
            .iter()
            .map(|policy| policy.of(kind.code()).word.strength());
        assert!(strengths.is_sorted(), "a level weakened a kind");
        let keeps = |policy: &Policy| policy.of(kind.code()).mode().forwards_unscanned();
        let unscanned = steps.iter().filter(|policy| policy.forwards_unscanned());
        assert!(
            unscanned.into_iter().all(keeps),
            "unscanned parts would pass"
        );
    }
}
