//! Everything that may be done to a chain, and what must be found.

use crate::FaultKind;
use crate::tests::{ACCOUNT, Entry, chain_of, lines, verify};

/// An entry as somebody without the key can make it: its digest follows from another, and nothing signs it.
fn forged(before: &Entry, seq: i64) -> Entry {
    Entry::after(&before.digest, before.lane, seq, r#","number":99"#)
}

type Tamper = fn(&mut Vec<Entry>);

/// What is done, how, what must be found where, and up to where the chain is proven.
const TAMPERING: &[(&str, Tamper, FaultKind, i64, i64)] = &[
    (
        "a text is changed",
        |all| all[3].body = all[3].body.replace("admin", "other"),
        FaultKind::Changed,
        4,
        2,
    ),
    (
        "the last text is changed",
        |all| all[5].body = all[5].body.replace("admin", "other"),
        FaultKind::Changed,
        6,
        4,
    ),
    (
        "… and its signature removed",
        |all| {
            all[5].body = all[5].body.replace("admin", "other");
            all[5].signature = None;
        },
        FaultKind::Changed,
        6,
        4,
    ),
    (
        "the only text of the last group is changed",
        |all| {
            all[4].sign();
            all[5].body = all[5].body.replace("admin", "other");
        },
        FaultKind::Changed,
        6,
        5,
    ),
    (
        "a signature is changed",
        |all| all[3].signature = all[1].signature.clone(),
        FaultKind::Changed,
        4,
        2,
    ),
    (
        "the last signature is removed",
        |all| all[5].signature = None,
        FaultKind::Truncated,
        7,
        4,
    ),
    (
        "the end is cut off within a group",
        |all| drop(all.pop()),
        FaultKind::Truncated,
        6,
        4,
    ),
    (
        "the first is removed",
        |all| drop(all.remove(0)),
        FaultKind::Missing,
        1,
        0,
    ),
    (
        "one is removed",
        |all| drop(all.remove(3)),
        FaultKind::Missing,
        4,
        2,
    ),
    (
        "one is removed, and the next is the last",
        |all| drop(all.remove(4)),
        FaultKind::Missing,
        5,
        4,
    ),
    (
        "two are exchanged",
        |all| all.swap(2, 3),
        FaultKind::Reordered,
        3,
        2,
    ),
    (
        "the last is moved up",
        |all| all.swap(3, 5),
        FaultKind::Reordered,
        4,
        2,
    ),
    (
        "the next stands in its place as well",
        |all| all[3] = all[4].clone(),
        FaultKind::Reordered,
        4,
        2,
    ),
    (
        "one comes again",
        |all| all.insert(4, all[1].clone()),
        FaultKind::Reordered,
        2,
        4,
    ),
    (
        "one stands twice",
        |all| all.insert(2, all[1].clone()),
        FaultKind::Inserted,
        2,
        2,
    ),
    (
        "another takes the place of one that is there",
        |all| all.insert(4, forged(&all[1], 4)),
        FaultKind::Inserted,
        4,
        4,
    ),
    (
        "one is put in that does not fit",
        |all| all.insert(4, forged(&all[1], 5)),
        FaultKind::Inserted,
        5,
        4,
    ),
    (
        "one is put in that fits",
        |all| all.insert(4, forged(&all[3], 5)),
        FaultKind::Inserted,
        5,
        4,
    ),
    (
        "one is put at the end that does not fit",
        |all| all.push(forged(&all[1], 7)),
        FaultKind::Inserted,
        7,
        6,
    ),
    (
        "one is put at the end that fits, but leaves places out",
        |all| all.push(forged(&all[5], 9)),
        FaultKind::Missing,
        7,
        6,
    ),
    (
        "one is put at the end that fits",
        |all| all.push(forged(&all[5], 7)),
        FaultKind::Truncated,
        8,
        6,
    ),
];

#[test]
fn everything_done_to_a_chain_is_found_and_named() {
    for (name, tamper, kind, seq, proven_to) in TAMPERING {
        let mut entries = chain_of(1);
        tamper(&mut entries);
        let found = verify(&lines(&entries), &[]).fault.expect(name);
        let what = (found.kind, found.seq, found.proven_to, found.lane);
        assert_eq!(what, (*kind, *seq, *proven_to, 1), "{name}: {found}");
        assert_eq!(found.account, ACCOUNT);
    }
}
