//! A streamed reply comes out the same however it is cut, whatever bytes it is made of.
//!
//! Run with `fuzz/run.sh 60 reply`.

#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use phigate_core::reply::{Issued, ReplyRules, ReplyStream, Stop};
use phigate_core::text::PhiText;

static RULES: LazyLock<Arc<ReplyRules>> = LazyLock::new(|| {
    let tokens = [
        ("NAME_7K3QD", "Jane Roe"),
        ("NAME_7K3QDX", "Ana \"Lu\" Roe"),
        ("SSN_4M2NP", "536-22-8741"),
    ];
    let tokens = tokens.map(|(name, value)| (name.to_owned(), PhiText::new(value)));
    Arc::new(ReplyRules {
        issued: Issued::new(tokens),
        ..ReplyRules::default()
    })
});

/// Plays a stream in pieces; when it ends without its end, what was held must come out too.
fn play<'p>(pieces: impl Iterator<Item = &'p [u8]>) -> (Vec<u8>, Result<(), Stop>) {
    let mut stage = ReplyStream::new(Arc::clone(&RULES), 1 << 20);
    let mut out = Vec::new();
    for piece in pieces {
        if let Err(stop) = stage.push(piece, &mut out) {
            return (out, Err(stop));
        }
    }
    let ended = stage.break_off(&mut out);
    (out, ended)
}

fuzz_target!(|input: (u8, &[u8])| {
    let (step, bytes) = input;
    let whole = play(std::iter::once(bytes));
    let cut = play(bytes.chunks(usize::from(step).max(1)));
    assert!(whole == cut, "the output depends on the cut");
});
