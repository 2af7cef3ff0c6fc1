//! Joins the chains of an account: a record in one chain contains the heads of the others.
//!
//! If one chain is truncated or replaced, the others show it, even without an external checkpoint.

use phigate_types::Act;
use phigate_verify::chain::digest_bytes;
use phigate_verify::chain::hex;

use crate::model::AdminAct;
use crate::rows::Head;

/// The record with the heads of the chains.
pub(crate) fn act(time: jiff::Timestamp, account: &str, heads: &[Head]) -> AdminAct {
    let act = AdminAct::new(time, account, "system", Act::ChainJoin);
    heads.iter().fold(act, |act, head| {
        act.detail(
            &format!("chain {}", head.lane),
            &format!("{} {}", head.seq, hex(&head.digest)),
        )
    })
}

/// The heads in such a record: lane, position, digest.
pub(crate) fn heads_in(act: &AdminAct) -> Vec<(i64, i64, [u8; 32])> {
    if !matches!(act.act, Act::ChainJoin | Act::ChainCheckpoint) {
        return Vec::new();
    }
    let read = |(name, value): (&String, &String)| {
        let lane = name.strip_prefix("chain ")?.parse().ok()?;
        let (seq, digest) = value.split_once(' ')?;
        Some((lane, seq.parse().ok()?, digest_bytes(digest)?))
    };
    act.details.iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_joining_record_reads_back() {
        let head = Head {
            account: "a".to_owned(),
            lane: 2,
            seq: 7,
            digest: [3; 32],
            signature: None,
        };
        let act = act(jiff::Timestamp::UNIX_EPOCH, "default", &[head]);
        assert_eq!(heads_in(&act), [(2, 7, [3; 32])]);
    }
}
