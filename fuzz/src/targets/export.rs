//! Exports and checkpoints as `audit verify` reads them, from an untrusted sender.

use phigate_verify::ExportVerifier;

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "export",
    run,
    seeds: &[
        br#"{"record":"decision","request_id":"01890000-0000-7000-8000-000000000000","chain":{"id":"a","seq":1,"hash":"00","prev":"00"}}"#,
        br#"{"chain":{"id":"a","seq":1},"record":"gap","from":1,"to":5}"#,
        b"{}\n[]\nnull\n\"",
    ],
};

fn run(bytes: &[u8]) {
    const KEY: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(mut verifier) = ExportVerifier::new(KEY, &[]) else {
        panic!("the key is fine");
    };
    text.lines().for_each(|line| verifier.line(line));
    let _ = verifier.finish();
}
