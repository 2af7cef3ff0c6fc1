//! Every tampering with a chain, and the fault that must be found.

use crate::FaultKind;
use crate::tests::{ACCOUNT, Entry, chain_of, lines, verify};

/// An entry as an attacker without the key can make it: its digest follows from another, without a signature.
fn forged(before: &Entry, seq: i64) -> Entry {
    Entry::after(&before.digest, before.lane, seq, r#","number":99"#)
}

type Tamper = fn(&mut Vec<Entry>);

/// Name, tampering, kind and place of the fault, and the place up to which the chain is proven.
const TAMPERING: &[(&str, Tamper, FaultKind, i64, i64)] = &[
    (
        "a record's text is changed",
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
        "the first record is removed",
        |all| drop(all.remove(0)),
        FaultKind::Missing,
        1,
        0,
    ),
    (
        "a record is removed",
        |all| drop(all.remove(3)),
        FaultKind::Missing,
        4,
        2,
    ),
    (
        "the record before the last is removed",
        |all| drop(all.remove(4)),
        FaultKind::Missing,
        5,
        4,
    ),
    (
        "two records are swapped",
        |all| all.swap(2, 3),
        FaultKind::Reordered,
        3,
        2,
    ),
    (
        "the last record is moved up",
        |all| all.swap(3, 5),
        FaultKind::Reordered,
        4,
        2,
    ),
    (
        "the next record is copied over it",
        |all| all[3] = all[4].clone(),
        FaultKind::Reordered,
        4,
        2,
    ),
    (
        "an earlier record is repeated",
        |all| all.insert(4, all[1].clone()),
        FaultKind::Reordered,
        2,
        4,
    ),
    (
        "a record is duplicated",
        |all| all.insert(2, all[1].clone()),
        FaultKind::Inserted,
        2,
        2,
    ),
    (
        "a forged record takes an existing place",
        |all| all.insert(4, forged(&all[1], 4)),
        FaultKind::Inserted,
        4,
        4,
    ),
    (
        "an unfitting record is inserted",
        |all| all.insert(4, forged(&all[1], 5)),
        FaultKind::Inserted,
        5,
        4,
    ),
    (
        "a fitting record is inserted",
        |all| all.insert(4, forged(&all[3], 5)),
        FaultKind::Inserted,
        5,
        4,
    ),
    (
        "an unfitting record is appended",
        |all| all.push(forged(&all[1], 7)),
        FaultKind::Inserted,
        7,
        6,
    ),
    (
        "a fitting record is appended behind a gap",
        |all| all.push(forged(&all[5], 9)),
        FaultKind::Missing,
        7,
        6,
    ),
    (
        "a fitting record is appended",
        |all| all.push(forged(&all[5], 7)),
        FaultKind::Truncated,
        8,
        6,
    ),
];

#[test]
fn every_tampering_is_found_and_named() {
    for (name, tamper, kind, seq, proven_to) in TAMPERING {
        let mut entries = chain_of(1);
        tamper(&mut entries);
        let found = verify(&lines(&entries), &[]).fault.expect(name);
        let what = (found.kind, found.seq, found.proven_to, found.lane);
        assert_eq!(what, (*kind, *seq, *proven_to, 1), "{name}: {found}");
        assert_eq!(found.account, ACCOUNT);
    }
}
