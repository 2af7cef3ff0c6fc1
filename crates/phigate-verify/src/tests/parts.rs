//! Parts of a trail: they begin behind a signed record, and nothing else can stand for missing ones.

use super::*;
use crate::StartField;

/// The first line of a part: the end of the chain before `next`.
fn start(before: &Entry, next: i64) -> String {
    let gap = GapLine {
        record: "gap".to_owned(),
        time: Some(TIME.parse().unwrap()),
        chain: GapField {
            account: ACCOUNT.to_owned(),
            lane: before.lane,
            seq: next,
            why: "earlier".to_owned(),
            start: Some(StartField {
                digest: hex(&before.digest),
                signature: before.signature(),
            }),
            leaves: Vec::new(),
            digest: hex(&before.digest),
            signature: None,
        },
    };
    serde_json::to_string(&gap).unwrap()
}

fn part(first: String, entries: &[Entry]) -> Report {
    let mut all = vec![first];
    all.extend(lines(entries));
    verify(&all, &[])
}

#[test]
fn part_is_proven_from_a_signed_place() {
    let chain = chain_of(1);
    let report = part(start(&chain[1], 3), &chain[2..]);
    assert!(report.is_intact(), "{report:?}");
    assert_eq!((report.records, report.earlier), (4, 2));
    // A signed start in the middle of the whole chain changes nothing.
    let mut all = lines(&chain);
    all.insert(2, start(&chain[1], 3));
    let report = verify(&all, &[]);
    assert!(report.is_intact(), "{report:?}");
    assert_eq!((report.records, report.earlier), (6, 0));
}

#[test]
fn part_needs_a_genuine_beginning() {
    let chain = chain_of(1);
    // An unsigned place, another place, another chain's end, and no signature at all.
    let unsigned = part(start(&chain[2], 4), &chain[3..]);
    let moved = part(start(&chain[1], 4), &chain[3..]);
    let foreign = Entry {
        lane: 1,
        ..chain_of(2)[1].clone()
    };
    let foreign = part(start(&foreign, 3), &chain[2..]);
    let mut bare = chain[1].clone();
    bare.signature = None;
    let bare = part(start(&bare, 3), &chain[2..]);
    for report in [unsigned, moved, foreign, bare] {
        assert_eq!(fault(report).0, FaultKind::Changed);
    }
}

#[test]
fn first_line_cannot_bridge_missing_records() {
    let chain = chain_of(1);
    let mut all = lines(&chain[..2]);
    all.push(start(&chain[3], 5));
    all.extend(lines(&chain[4..]));
    assert_eq!(fault(verify(&all, &[])), (FaultKind::Missing, 3));
    let mut all = lines(&chain[..4]);
    all.push(start(&chain[1], 3));
    all.extend(lines(&chain[2..]));
    assert_eq!(fault(verify(&all, &[])).0, FaultKind::Reordered);
}

#[test]
fn checkpoint_before_a_part_is_no_fault() {
    let chain = chain_of(1);
    let mut all = vec![start(&chain[3], 5)];
    all.extend(lines(&chain[4..]));
    let outside = [chain[1].checkpoint(), chain[5].checkpoint()];
    let report = verify(&all, &outside);
    assert!(report.is_intact(), "{report:?}");
    assert_eq!(report.outside_checkpoints, 1);
}

#[test]
fn checkpoint_lines_are_checked() {
    let chain = chain_of(1);
    let line = |checkpoint: Checkpoint| {
        let record = "checkpoint".to_owned();
        serde_json::to_string(&crate::CheckpointLine { record, checkpoint }).unwrap()
    };
    let mut all = lines(&chain);
    all.push(line(chain[5].checkpoint()));
    assert!(verify(&all, &[]).is_intact());
    let forged = Checkpoint {
        seq: 7,
        ..chain[5].checkpoint()
    };
    all.push(line(forged));
    assert_eq!(fault(verify(&all, &[])).0, FaultKind::Changed);
}
