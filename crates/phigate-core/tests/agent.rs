//! An agent at work that touches no PHI: its conversation grows by a call and a result per step, and is resent whole.

use std::collections::HashMap;
use std::sync::Mutex;

use phi_detect::{Detector, Findings};
use phigate_core::doors::CHAT;
use phigate_core::protect::{self, Outcome, Policy, Reading, ScanMemory, Scanner};
use phigate_core::request::{Request, RequestLimits};
use serde_json::{Value, json};

/// Remembers everything, so that a turn costs its new texts alone.
#[derive(Default)]
struct Memory(Mutex<HashMap<(String, String), Findings>>);

impl ScanMemory for Memory {
    fn recall_or(
        &self,
        reading: Reading<'_>,
        text: &str,
        scan: &mut dyn FnMut() -> Findings,
    ) -> Findings {
        let reading = match reading {
            Reading::Text => "text".to_owned(),
            Reading::Field(name) => format!("field {name}"),
            Reading::Identifier => "identifier".to_owned(),
        };
        let key = (reading, text.to_owned());
        if let Some(found) = self.0.lock().unwrap().get(&key) {
            return found.clone();
        }
        let found = scan();
        self.0.lock().unwrap().insert(key, found.clone());
        found
    }
}

/// A step of an agent: the name of a tool, its arguments and its result.
type Step = fn(usize) -> (&'static str, Value, Value);

/// A ticket system and a file system.
const FILES_AND_TICKETS: &[Step] = &[
    |step| {
        let number = 2_024_000 + step;
        (
            "get_ticket",
            json!({"case_number": number, "include_comments": false}),
            json!({"case_number": number, "status": "open", "priority": 2, "queue": "storage", "comments": step % 7}),
        )
    },
    |step| {
        let path = format!("src/modules/report_{step}.rs");
        (
            "stat_file",
            json!({"path": path}),
            json!({"path": path, "inode": 13_107_200 + step * 7, "size": 2_048 + step * 31, "mtime": 1_731_974_400 + step * 60, "mode": 33_188}),
        )
    },
    |step| {
        (
            "list_contacts",
            json!({"contact_id": 7_340_000 + step, "limit": 50}),
            json!({"contact_id": 7_340_000 + step, "stage": "qualified", "score": step % 100}),
        )
    },
];

/// A CRM and a BI tool.
const RECORDS_AND_CHARTS: &[Step] = &[
    |step| {
        let id = 1_048_576 + step * 3;
        (
            "update_record",
            json!({"record_id": id, "stage": "won", "amount": 1200 + step}),
            json!({"record_id": id, "updated": true, "version": step}),
        )
    },
    |step| {
        let id = 48_200_000 + step;
        (
            "render_chart",
            json!({"chart_id": id, "width": 1280, "height": 720}),
            json!({"chart_id": id, "series": [step, step + 4, step + 9], "took_ms": 18 + step % 5}),
        )
    },
];

/// Sends the conversation after each of `steps` steps, which take turns, and returns the requests that did not pass
/// unchanged.
fn refused(kinds: &[Step], steps: usize) -> Vec<String> {
    let scanner = Scanner::with_memory(Detector::default(), Memory::default());
    let mut messages = vec![json!({"role": "user", "content": "Tidy up the open tickets."})];
    let mut refused = Vec::new();
    for step in 0..steps {
        let (name, arguments, result) = kinds[step % kinds.len()](step);
        let id = format!("call_{step:04}");
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}}]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": result.to_string()}));
        let body = json!({"model": "gpt-4o", "messages": messages}).to_string();
        let modes: &[&str] = if step % 20 == 19 {
            &["mask", "block"]
        } else {
            &["mask"]
        };
        for mode in modes {
            let request = Request::read(CHAT.form, body.clone().into(), &RequestLimits::default());
            let scanned = protect::scan(&scanner, request.unwrap());
            let policy = Policy::uniform(mode.parse().unwrap());
            let outcome = protect::apply(&policy, &scanner, scanned);
            let passes = matches!(&outcome, Outcome::Forward(clean) if clean.request().document().expose() == body);
            if !passes {
                refused.push(format!("{mode}, step {step}: {name} {arguments} {result}"));
            }
        }
        if refused.len() > 4 {
            break;
        }
    }
    refused
}

#[test]
fn agent_with_files_and_tickets_passes() {
    assert_eq!(refused(FILES_AND_TICKETS, 200), [""; 0]);
}

#[test]
fn agent_with_records_and_charts_passes() {
    assert_eq!(refused(RECORDS_AND_CHARTS, 200), [""; 0]);
}
