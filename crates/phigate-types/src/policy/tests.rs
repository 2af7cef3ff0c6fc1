//! Laws of the levels, with random policies.

use proptest::prelude::*;

use super::*;

const KINDS: [&str; 4] = ["ssn", "name", "phone", "x_study"];

fn mode() -> impl Strategy<Value = Mode> {
    let modes: Vec<Mode> = Mode::all().collect();
    prop::sample::select(modes)
}

fn kind() -> impl Strategy<Value = SmolStr> {
    prop::sample::select(KINDS.to_vec()).prop_map(SmolStr::new_static)
}

fn words() -> impl Strategy<Value = Words<Mode>> {
    prop::collection::btree_map(kind(), mode(), 0..4)
}

fn account() -> impl Strategy<Value = Words<Word>> {
    let all: Vec<Word> = Word::all().collect();
    prop::collection::btree_map(kind(), prop::sample::select(all), 0..4)
}

prop_compose! {
    fn policies()(
        mode in mode(),
        account in account(),
        group in prop::option::of(words()),
        key in prop::option::of(words()),
        provider in prop::option::of(self::mode()),
        request in prop::option::of(self::mode()),
    ) -> Policy {
        let named = |name, words| Named { name: SmolStr::new_static(name), words };
        Policy::of_levels(Levels {
            mode,
            account,
            group: group.map(|words| named("wards", words)),
            key: key.map(|words| named("k1", words)),
            name: None,
        })
        .at_provider("openai", provider)
        .on_request(request)
    }
}

/// The strongest word of any level, computed without the code under test.
fn strongest(policy: &Policy, kind: &str) -> Word {
    let levels = policy.levels();
    let account = levels.account.get(kind).copied();
    if account == Some(Word::Off) {
        return Word::Off;
    }
    let mut said = vec![account.unwrap_or(Word::Treat(levels.mode))];
    for named in [&levels.group, &levels.key].into_iter().flatten() {
        said.extend(named.words.get(kind).map(|mode| Word::Treat(*mode)));
    }
    said.extend(policy.provider.iter().map(|(_, mode)| Word::Treat(*mode)));
    said.extend(policy.request.map(Word::Treat));
    let order = ["off", "flag", "mask", "redact", "block"];
    let place = |word: &Word| order.iter().position(|code| *code == word.code());
    said.into_iter().max_by_key(place).unwrap()
}

fn strength(policy: &Policy, kind: &str) -> u8 {
    policy.of(kind).word.strength()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn two_computations_of_a_ruling_agree(policy in policies(), kind in kind()) {
        prop_assert_eq!(policy.of(&kind).word, strongest(&policy, &kind));
    }

    #[test]
    fn added_level_never_weakens(policy in policies(), more in words(), mode in mode(), kind in kind()) {
        let before = strength(&policy, &kind);
        let with = |change: &dyn Fn(&mut Levels)| {
            let mut levels = policy.levels().clone();
            change(&mut levels);
            Policy { levels: Arc::new(levels), ..policy.clone() }
        };
        let named = |name| Some(Named { name: SmolStr::new_static(name), words: more.clone() });
        if policy.levels().group.is_none() {
            prop_assert!(strength(&with(&|levels| levels.group = named("g")), &kind) >= before);
        }
        if policy.levels().key.is_none() {
            prop_assert!(strength(&with(&|levels| levels.key = named("k")), &kind) >= before);
        }
        if policy.provider.is_none() {
            prop_assert!(strength(&policy.clone().at_provider("p", Some(mode)), &kind) >= before);
        }
        if policy.request.is_none() {
            prop_assert!(strength(&policy.clone().on_request(Some(mode)), &kind) >= before);
        }
    }

    #[test]
    fn order_and_repetition_of_levels_are_irrelevant(policy in policies(), kind in kind(), turn in 0_usize..5) {
        let mut said: Vec<Ruling<'_>> = policy.said_of(&kind).collect();
        let length = said.len();
        said.rotate_left(turn % length);
        said.extend(said.clone());
        let found = said.into_iter().reduce(Ruling::or_stronger).unwrap();
        if policy.of(&kind).word != Word::Off {
            prop_assert_eq!(found, policy.of(&kind));
        }
    }

    #[test]
    fn ruling_names_the_first_strongest_level(policy in policies(), kind in kind()) {
        let ruling = policy.of(&kind);
        let first = policy.said_of(&kind).find(|said| said.word == ruling.word);
        prop_assert_eq!(Some(ruling.by), first.map(|said| said.by));
    }

    #[test]
    fn unscanned_parts_pass_only_if_all_do(policy in policies(), kind in kind()) {
        if policy.forwards_unscanned() {
            prop_assert!(policy.of(&kind).mode().forwards_unscanned());
        }
    }

    #[test]
    fn policy_without_words_is_its_mode(mode in mode(), kind in kind()) {
        let ruling = Policy::uniform(mode);
        let ruling = ruling.of(&kind);
        prop_assert_eq!((ruling.word, ruling.by), (Word::Treat(mode), Level::Account));
    }
}

#[test]
fn words_are_ordered_by_strength() {
    let codes: Vec<&str> = Word::all().map(Word::code).collect();
    assert_eq!(codes, ["off", "flag", "mask", "redact", "block"]);
    assert!(Word::all().map(Word::strength).is_sorted());
    for word in Word::all() {
        assert_eq!(word.code().parse(), Ok(word));
    }
}

#[test]
fn levels_are_written_with_their_names() {
    let levels = [
        Level::Account,
        Level::Group("wards"),
        Level::Key("k1"),
        Level::Provider("openai"),
        Level::Request,
    ];
    let codes = levels.map(|level| level.code().to_string());
    let wanted = [
        "account",
        "group:wards",
        "key:k1",
        "provider:openai",
        "request",
    ];
    assert_eq!(codes, wanted);
}
