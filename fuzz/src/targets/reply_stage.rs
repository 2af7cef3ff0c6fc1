//! Streamed replies with values to restore: the same output for every cut.

use std::sync::{Arc, LazyLock};

use phi_detect::Detector;
use phigate_core::protect::Scanner;
use phigate_core::reply::{Echoes, Issued, ReplyRules, ReplyScan, Stop};
use phigate_core::text::PhiText;
use phigate_types::Replies;

use super::Target;
use super::requests::door;
use crate::cuts::same_for_every_cut;

pub(super) const TARGET: Target = Target {
    name: "reply_stage",
    run,
    // The first byte chooses the door, the second the cut.
    seeds: &[
        b"0\x07data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"[NAME_7K3QD] and [SSN_\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"4M2NP]\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
        b"1\x09data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"[NAME_7K3QDX] SSN 536-22-8742\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
        b"3\x0bdata: {\"type\":\"response.output_text.delta\",\"item_id\":\"i\",\"output_index\":0,\"content_index\":0,\"delta\":\"[NAME_7K\"}\n\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"i\",\"output_index\":0,\"content_index\":0,\"delta\":\"3QD]\"}\n\n",
    ],
};

static RULES: LazyLock<[Arc<ReplyRules>; 2]> = LazyLock::new(|| {
    let rules = |action: Option<Replies>| {
        let tokens = [
            ("NAME_7K3QD", "Jane Roe"),
            ("NAME_7K3QDX", "Ana \"Lu\" Roe"),
            ("SSN_4M2NP", "536-22-8741"),
        ];
        let tokens = tokens.map(|(name, value)| (name.to_owned(), PhiText::new(value)));
        Arc::new(ReplyRules {
            issued: Issued::new(tokens),
            scan: action.map(|action| ReplyScan {
                scanner: Arc::new(Scanner::new(Detector::default().without_names())),
                action,
                echoes: Echoes::new(b"{}".to_vec(), []),
            }),
            ..ReplyRules::default()
        })
    };
    [rules(None), rules(Some(Replies::Mask))]
});

fn run(bytes: &[u8]) {
    let Some((door, rest)) = door(bytes) else {
        return;
    };
    for rules in &*RULES {
        let _ = same_for_every_cut(rest, |pieces| -> (Vec<u8>, Result<(), Stop>) {
            let mut stage = door.reply_stream(Arc::clone(rules), 1 << 20);
            let mut out = Vec::new();
            let pushed = pieces
                .iter()
                .try_for_each(|piece| stage.push(piece, &mut out));
            // A stream that breaks off must also flush its buffered text.
            let ended = pushed.and_then(|()| stage.break_off(&mut out));
            (out, ended)
        });
    }
    let whole = door.whole_reply(&RULES[1], rest.to_vec());
    if let Ok(body) = whole.body {
        let was_json = serde_json::from_slice::<serde::de::IgnoredAny>(rest).is_ok();
        let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(&body).is_ok();
        assert!(is_json || !was_json, "a reply is JSON no more");
    }
}
