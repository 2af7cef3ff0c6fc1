//! Bodies at every door: parsed, checked, walked.

use phigate_core::doors::{DOORS, Door};
use phigate_core::json::Kind;
use phigate_core::request::{Request, RequestLimits, path, slots, text_groups, unscannable};

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "requests",
    run,
    // The first byte chooses the door.
    seeds: &[
        br#"0{"model":"gpt-4o","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":[{"type":"text","text":"Hi"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"x"}],"tools":[{"type":"function","function":{"name":"f","parameters":{}}}],"stream":true}"#,
        br#"1{"model":"claude-opus-4-5","max_tokens":9,"system":[{"type":"text","text":"a"}],"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}],"tools":[{"name":"n","input_schema":{"type":"object"}}]}"#,
        br#"2{"model":"claude-opus-4-5","messages":[{"role":"user","content":"Hi."}]}"#,
        br#"3{"model":"gpt-4o","input":[{"role":"user","content":[{"type":"input_text","text":"a"}]},{"type":"function_call","call_id":"c","name":"n","arguments":"{}"}],"instructions":"b","store":false}"#,
        br#"4{"model":"text-embedding-3-small","input":["a","b"]}"#,
        br#"5{"model":"gpt-3.5-turbo-instruct","prompt":["a"],"suffix":"b","stop":["c"]}"#,
    ],
};

/// The door chosen by the first byte, and the body.
pub(super) fn door(bytes: &[u8]) -> Option<(&'static Door, &[u8])> {
    let (first, body) = bytes.split_first()?;
    let number = usize::from(first.wrapping_sub(b'0'));
    Some((DOORS[number % DOORS.len()], body))
}

fn run(bytes: &[u8]) {
    let Some((door, body)) = door(bytes) else {
        return;
    };
    let request = match Request::read(door.form, body.to_vec(), &RequestLimits::default()) {
        Ok(request) => request,
        Err(error) => {
            // Errors name places; a long message would quote the caller.
            assert!(error.message.len() < 512);
            return;
        }
    };
    let document = request.document();
    let walked: Vec<_> = slots(door.form, document).map(|slot| slot.node).collect();
    for value in document.nodes() {
        let is_walked = walked.binary_search(&value.id()).is_ok();
        let must_be = value.is_key() || value.kind() == Kind::Number;
        assert!(
            is_walked || !must_be,
            "a key or a number is not walked over"
        );
        let _ = path(&value);
    }
    let _ = (text_groups(document), unscannable(door.form, document));
    let _ = (request.opening(), request.asks_for_json());
    assert!(
        !format!("{request:?}").contains(request.opening().as_str()) || request.opening().len() < 8
    );
}
