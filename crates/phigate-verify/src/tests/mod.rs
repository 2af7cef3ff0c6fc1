//! Chains as a store would write them, and every tampering with them.

mod parts;
mod tampering;

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use uuid::Uuid;

use crate::chain::{self, START, hex, leaf, link};
use crate::{
    ChainField, Checkpoint, ExportVerifier, Fault, FaultKind, Follower, GapField, GapLine, Link,
    Report, WrongKey,
};

const ACCOUNT: &str = "clinic";
const TIME: &str = "2026-01-01T00:00:00Z";
const TIME_US: i64 = 1_767_225_600_000_000;

fn key() -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap()
}

fn public_key() -> String {
    STANDARD.encode(key().public_key())
}

/// A record in its chain.
#[derive(Clone)]
struct Entry {
    lane: i64,
    seq: i64,
    id: Uuid,
    body: String,
    digest: [u8; 32],
    signature: Option<Vec<u8>>,
}

impl Entry {
    fn after(before: &[u8; 32], lane: i64, seq: i64, fields: &str) -> Self {
        let id = Uuid::from_u128(seq.unsigned_abs().into());
        let body = format!(r#"{{"record":"admin","time":"{TIME}"{fields}}}"#);
        let leaf = leaf(ACCOUNT, id, TIME_US, &body);
        Self {
            lane,
            seq,
            id,
            body,
            digest: link(ACCOUNT, lane, seq, before, &leaf),
            signature: None,
        }
    }

    fn leaf(&self) -> [u8; 32] {
        leaf(ACCOUNT, self.id, TIME_US, &self.body)
    }

    fn sign(&mut self) {
        let statement = chain::statement(ACCOUNT, self.lane, self.seq, &self.digest);
        self.signature = Some(key().sign(&statement).as_ref().to_vec());
    }

    fn signature(&self) -> Option<String> {
        self.signature.as_ref().map(|bytes| STANDARD.encode(bytes))
    }

    fn line(&self) -> String {
        let place = ChainField {
            account: ACCOUNT.to_owned(),
            id: self.id,
            lane: self.lane,
            seq: self.seq,
            digest: hex(&self.digest),
            signature: self.signature(),
        };
        let open = self.body.strip_suffix('}').unwrap();
        let place = serde_json::to_string(&place).unwrap();
        format!("{open},\"chain\":{place}}}\n")
    }

    fn link(&self, authentic: Option<bool>) -> Link {
        Link {
            seq: self.seq,
            leaf: self.leaf(),
            digest: self.digest,
            signature: self.signature.clone(),
            authentic,
            record: Some(self.id),
            request_id: None,
        }
    }

    fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            account: ACCOUNT.to_owned(),
            lane: self.lane,
            seq: self.seq,
            digest: hex(&self.digest),
            signature: self.signature().unwrap(),
            time: TIME.parse().unwrap(),
        }
    }
}

/// A valid chain of three groups of two records; the last of each is signed. One record has the extra `fields`.
fn chain_with(lane: i64, at: i64, fields: &str) -> Vec<Entry> {
    let (mut entries, mut before) = (Vec::new(), START);
    for seq in 1..=6 {
        let fields = if seq == at { fields } else { "" };
        let mut entry = Entry::after(&before, lane, seq, fields);
        if seq % 2 == 0 {
            entry.sign();
        }
        before = entry.digest;
        entries.push(entry);
    }
    entries
}

fn chain_of(lane: i64) -> Vec<Entry> {
    chain_with(lane, 0, "")
}

/// Consecutive records of a chain that an export omits.
fn gap(entries: &[Entry], why: &str) -> String {
    let (first, last) = (entries.first().unwrap(), entries.last().unwrap());
    let gap = GapLine {
        record: "gap".to_owned(),
        time: None,
        chain: GapField {
            account: ACCOUNT.to_owned(),
            lane: first.lane,
            seq: first.seq,
            why: why.to_owned(),
            start: None,
            leaves: entries.iter().map(|entry| hex(&entry.leaf())).collect(),
            digest: hex(&last.digest),
            signature: last.signature(),
        },
    };
    serde_json::to_string(&gap).unwrap()
}

fn lines(entries: &[Entry]) -> Vec<String> {
    entries.iter().map(Entry::line).collect()
}

fn verify(lines: &[String], outside: &[Checkpoint]) -> Report {
    let mut verifier = ExportVerifier::new(&public_key(), outside).unwrap();
    for line in lines {
        verifier.line(line);
    }
    verifier.finish()
}

fn fault(report: Report) -> (FaultKind, i64) {
    let fault = report.fault.unwrap();
    (fault.kind, fault.seq)
}

#[test]
fn an_honest_export_is_proven_and_counted() {
    let (mut all, other) = (lines(&chain_of(1)), chain_of(2));
    // Empty lines are ignored.
    all.push("\r\n".to_owned());
    all.extend(lines(&other[..2]));
    all.push(gap(&other[2..4], "filter"));
    all.extend(lines(&other[4..]));
    let outside = [other[5].checkpoint()];
    let expected = Report {
        records: 10,
        chains: 2,
        left_out: 2,
        signatures: 6,
        outside_checkpoints: 1,
        ..Report::default()
    };
    assert_eq!(verify(&all, &outside), expected);
}

#[test]
fn a_fault_names_its_record_and_request() {
    let request = Uuid::from_u128(5);
    let fields = format!(r#","request_id":"{request}""#);
    let mut entries = chain_with(1, 4, &fields);
    entries[3].body = entries[3].body.replace("admin", "other");
    let found = verify(&lines(&entries), &[]).fault.unwrap();
    assert_eq!(found.record, Some(entries[3].id));
    assert_eq!(found.request_id, Some(request));
}

#[test]
fn lines_after_a_fault_are_ignored() {
    let mut entries = chain_of(1);
    entries[1].signature = Some(vec![0; 64]);
    let report = verify(&lines(&entries), &[]);
    assert_eq!(report.records, 1);
    // The missing end of the chain is not reported either.
    assert_eq!(fault(report), (FaultKind::Changed, 2));
}

#[test]
fn unreadable_lines_count_as_changed() {
    let entries = chain_of(1);
    let (line, mut all) = (entries[0].line(), lines(&entries));
    let gap_line = gap(&entries[..2], "filter");
    // The line, and the place that is named; `None` if the place cannot be read.
    for (wrong, seq) in [
        ("{}".to_owned(), 0),
        (line.replace("\"lane\"", "\"lan\""), 0),
        (line.trim_end().trim_end_matches('}').to_owned(), 0),
        (line.replace("2026-01-01", "yesterday"), 1),
        (line.replace(&hex(&entries[0].digest), "00"), 1),
        (line.replace("}}", r#","signature":"?"}}"#), 1),
        (gap_line.replace("\"leaves\"", "\"leaf\""), 0),
        (gap_line.replace(&hex(&entries[0].leaf()), "00"), 1),
        (gap_line.replace(&hex(&entries[1].digest), "00"), 1),
        (gap_line.replace("\"signature\":\"", "\"signature\":\"?"), 1),
    ] {
        all[0] = wrong.clone();
        assert_eq!(
            fault(verify(&all, &[])),
            (FaultKind::Changed, seq),
            "{wrong}"
        );
    }
}

#[test]
fn omitted_records_must_fit() {
    let entries = chain_of(1);
    let with = |gap: String| {
        let mut all = lines(&entries[..2]);
        all.push(gap);
        all.extend(lines(&entries[5..]));
        verify(&all, &[])
    };
    let hidden = &entries[2..5];
    assert!(with(gap(hidden, "filter")).is_intact());
    let mut changed = hidden.to_vec();
    changed[1].body.push(' ');
    assert_eq!(
        fault(with(gap(&changed, "filter"))),
        (FaultKind::Changed, 5)
    );
    let short = gap(&hidden[..2], "filter");
    assert_eq!(fault(with(short)), (FaultKind::Missing, 5));
}

#[test]
fn only_recorded_deletions_may_be_missing() {
    let deleted = r#","act":"retention.records","details":{"places":"1:2-3"}"#;
    let other_act = deleted.replace("retention.records", "mode.set");
    let with = |fields: &str, why: [&str; 2]| {
        let entries = chain_with(1, 6, fields);
        let mut all = lines(&entries[..1]);
        all.push(gap(&entries[1..2], why[0]));
        all.push(gap(&entries[2..3], why[1]));
        all.extend(lines(&entries[3..]));
        verify(&all, &[])
    };
    let report = with(deleted, ["deleted"; 2]);
    assert_eq!((report.fault, report.deleted, report.records), (None, 2, 4));
    let missing = (FaultKind::Missing, 2);
    assert_eq!(fault(with("", ["deleted"; 2])), missing);
    assert_eq!(fault(with(&other_act, ["deleted"; 2])), missing);
    // A filter may have left out the record of the deletion.
    let report = with("", ["deleted", "filter"]);
    assert_eq!(
        (report.fault, report.deleted, report.left_out),
        (None, 1, 1)
    );
}

#[test]
fn checkpoints_from_elsewhere_are_compared() {
    let entries = chain_of(1);
    let all = lines(&entries);
    let other_lane = chain_of(2);
    let elsewhere = Checkpoint {
        account: "other".to_owned(),
        ..entries[5].checkpoint()
    };
    let forged_one = Checkpoint {
        seq: 9,
        ..entries[5].checkpoint()
    };
    // The same places with other records, properly signed.
    let other_records = chain_with(1, 3, r#","number":1"#);
    // Name, kept lines, checkpoints from elsewhere, number that fit, fault.
    type Case<'a> = (
        &'a str,
        usize,
        Vec<Checkpoint>,
        u64,
        Option<(FaultKind, i64)>,
    );
    let cases: [Case<'_>; 6] = [
        (
            "all fit",
            6,
            vec![entries[1].checkpoint(), entries[5].checkpoint()],
            2,
            None,
        ),
        (
            "the end was cut off",
            4,
            vec![entries[1].checkpoint(), entries[5].checkpoint()],
            1,
            Some((FaultKind::Truncated, 5)),
        ),
        (
            "everything was written anew",
            6,
            vec![entries[1].checkpoint(), other_records[3].checkpoint()],
            1,
            Some((FaultKind::Changed, 4)),
        ),
        (
            "a whole chain is gone",
            6,
            vec![other_lane[3].checkpoint()],
            0,
            Some((FaultKind::Truncated, 1)),
        ),
        (
            "another account is not exported",
            6,
            vec![elsewhere],
            0,
            None,
        ),
        ("a forged one says nothing", 6, vec![forged_one], 0, None),
    ];
    for (name, length, outside, compared, expected) in cases {
        let report = verify(&all[..length], &outside);
        assert_eq!(report.outside_checkpoints, compared, "{name}");
        let found = report.fault.map(|fault| (fault.kind, fault.seq));
        assert_eq!(found, expected, "{name}");
    }
    // Accounts that were not exported may have checkpoints in the same file, signed as well.
    let mut of_another = entries[5].checkpoint();
    of_another.account = "other".to_owned();
    let statement = chain::statement("other", 1, 6, &entries[5].digest);
    of_another.signature = STANDARD.encode(key().sign(&statement));
    assert!(of_another.is_signed_by(&public_key()));
    assert!(verify(&all, &[of_another]).is_intact());
}

#[test]
fn unsigned_checkpoints_prove_nothing() {
    let good = chain_of(1)[3].checkpoint();
    assert!(good.is_signed_by(&public_key()));
    assert!(!good.is_signed_by("not base64"));
    assert!(!good.is_signed_by(&STANDARD.encode([0; 32])));
    type Change = fn(&mut Checkpoint);
    let changes: [Change; 5] = [
        |one| one.account.push('s'),
        |one| one.lane += 1,
        |one| one.seq += 1,
        |one| one.digest = "?".to_owned(),
        |one| one.signature = "?".to_owned(),
    ];
    for (at, change) in changes.iter().enumerate() {
        let mut changed = good.clone();
        change(&mut changed);
        assert!(!changed.is_signed_by(&public_key()), "{at}");
    }
}

#[test]
fn invalid_key_is_rejected() {
    for wrong in [
        "?",
        "",
        &STANDARD.encode([1; 31]),
        &STANDARD.encode([1; 33]),
    ] {
        assert_eq!(ExportVerifier::new(wrong, &[]).err(), Some(WrongKey));
    }
    let padded = format!(" {}\n", public_key());
    let outside = [chain_of(1)[1].checkpoint()];
    let mut verifier = ExportVerifier::new(&padded, &outside).unwrap();
    for line in lines(&chain_of(1)) {
        verifier.line(&line);
    }
    assert_eq!(verifier.finish().outside_checkpoints, 1);
}

/// The key distinguishes a genuine record from a forged one at any place.
#[test]
fn keyed_hashes_distinguish_moved_from_changed() {
    let public = key().public_key().as_ref().to_vec();
    let follow = |entries: &[(Entry, bool)]| -> Result<(), Fault> {
        let mut follower = Follower::new(ACCOUNT, 1);
        for (entry, authentic) in entries {
            follower.follow(&public, entry.link(Some(*authentic)))?;
        }
        follower.finish()
    };
    let honest: Vec<(Entry, bool)> = chain_of(1).into_iter().map(|one| (one, true)).collect();
    assert_eq!(follow(&honest), Ok(()));
    // Fits, as any attacker can achieve, but its keyed hash is wrong.
    let mut changed = honest.clone();
    changed[3].1 = false;
    let found = follow(&changed).unwrap_err();
    assert_eq!((found.kind, found.seq), (FaultKind::Changed, 4));
    // Genuine, but written for another place.
    let mut moved = honest.clone();
    moved[3].0 = Entry {
        seq: 4,
        ..honest[4].0.clone()
    };
    let found = follow(&moved).unwrap_err();
    assert_eq!((found.kind, found.seq), (FaultKind::Reordered, 4));
}
