//! A simulated OpenAI that speaks the Responses format.

use http::{HeaderName, StatusCode, header};
use serde_json::{Value, json};

use super::openai::{error, now, offer};
use super::script::{self, Answer, Asked, Choice, End, Form};
use super::{Family, id};

#[derive(Clone, Copy)]
pub(super) struct Responses;

impl Family for Responses {
    fn key_header(self) -> HeaderName {
        header::AUTHORIZATION
    }

    fn read(self, body: &Value) -> Asked {
        let items = items(&body["input"]);
        let by = |roles: &'static [&'static str]| {
            let is_by = |item: &&Value| {
                item["role"]
                    .as_str()
                    .is_some_and(|role| roles.contains(&role))
            };
            items.iter().filter(is_by).map(|item| &item["content"])
        };
        let instructions = std::iter::once(&body["instructions"]);
        let system = instructions.chain(by(&["system", "developer"]));
        let system = system.map(script::text).filter(|text| !text.is_empty());
        let said = by(&["user"]).next_back();
        let parts = items
            .iter()
            .flat_map(|item| item["content"].as_array().into_iter().flatten());
        let is_attached =
            |part: &&Value| part["type"] == "input_image" || part["type"] == "input_file";
        let tools = body["tools"].as_array().into_iter().flatten();
        let functions = tools.filter(|tool| tool["type"] == "function");
        Asked {
            system: system.collect::<Vec<_>>().join("\n\n"),
            said: said.map(script::text).unwrap_or_default(),
            wish: said.map(script::last_text).unwrap_or_default(),
            prompt_chars: script::count_chars(&body["input"])
                + script::count_chars(&body["instructions"]),
            attachments: parts.filter(is_attached).count(),
            tools: functions.map(offer).collect(),
            choice: choice(&body["tool_choice"]),
            results: results(&items),
            form: form(&body["text"]["format"]),
            limit: body["max_output_tokens"].as_u64(),
            stops: Vec::new(),
            thinks: body["reasoning"]["summary"].is_string(),
        }
    }

    fn whole(self, model: &str, _body: &Value, answer: &Answer) -> Value {
        let output: Vec<Value> = output(answer).into_iter().map(|item| item.whole).collect();
        response(&id("resp_"), model, answer, Some(json!(output)))
    }

    fn events(self, model: &str, _body: &Value, answer: &Answer) -> Vec<String> {
        let response_id = id("resp_");
        let begun = response(&response_id, model, answer, None);
        let mut events = vec![
            json!({"type": "response.created", "response": begun}),
            json!({"type": "response.in_progress", "response": begun}),
        ];
        let output = output(answer);
        for (index, item) in output.iter().enumerate() {
            events.extend(item.events(index));
        }
        let output: Vec<Value> = output.into_iter().map(|item| item.whole).collect();
        let ended = response(&response_id, model, answer, Some(json!(output)));
        let last = match answer.end {
            End::Limit => "response.incomplete",
            End::Said | End::Calls => "response.completed",
        };
        events.push(json!({"type": last, "response": ended}));
        let written = events.into_iter().enumerate().map(|(number, mut event)| {
            event["sequence_number"] = json!(number);
            let kind = event["type"].as_str().unwrap_or_default();
            format!("event: {kind}\ndata: {event}\n\n")
        });
        written.collect()
    }

    fn error(self, status: StatusCode, message: &str) -> Value {
        error(status, message)
    }
}

/// The input as a list.
fn items(input: &Value) -> Vec<Value> {
    match input.as_str() {
        Some(text) => vec![json!({"role": "user", "content": text})],
        None => input.as_array().cloned().unwrap_or_default(),
    }
}

fn choice(choice: &Value) -> Choice {
    match choice.as_str() {
        Some("none") => Choice::Never,
        Some("required") => Choice::Any,
        _ => match choice["name"].as_str() {
            Some(name) => Choice::Named(name.to_owned()),
            None => Choice::Free,
        },
    }
}

fn form(format: &Value) -> Form {
    match format["type"].as_str() {
        Some("json_object") => Form::Object,
        Some("json_schema") => Form::Schema(format["schema"].clone()),
        _ => Form::Text,
    }
}

/// The results of tools, if they come last.
fn results(items: &[Value]) -> Vec<(String, String)> {
    let is_result = |item: &&Value| item["type"] == "function_call_output";
    let called = |id: &Value| {
        let mut calls = items.iter().filter(|item| item["type"] == "function_call");
        let call = calls.find(|call| call["call_id"] == *id);
        let name = call.and_then(|call| call["name"].as_str());
        name.unwrap_or("the tool").to_owned()
    };
    let last = items.iter().rev().take_while(is_result);
    let results = last.map(|item| (called(&item["call_id"]), script::text(&item["output"])));
    let mut results: Vec<(String, String)> = results.collect();
    results.reverse();
    results
}

/// An item of the output.
struct Item {
    whole: Value,
    /// The item's text, if it has one: the name of its events, their common fields, and the text.
    text: Option<(&'static str, Value, String)>,
}

impl Item {
    fn new(whole: Value) -> Self {
        Self { whole, text: None }
    }

    /// The item's events in a stream.
    fn events(&self, index: usize) -> Vec<Value> {
        let item = |kind: &str, item: &Value| json!({"type": format!("response.output_item.{kind}"), "output_index": index, "item": item});
        let mut events = vec![item("added", &emptied(&self.whole))];
        if let Some((name, place, text)) = &self.text {
            let event = |step: &str, member: &str, value: Value| {
                let mut event = place.clone();
                event["type"] = json!(format!("response.{name}.{step}"));
                event["output_index"] = json!(index);
                event["item_id"] = self.whole["id"].clone();
                event[member] = value;
                event
            };
            events.extend(part_event(&self.whole, index, "added"));
            events.extend(script::pieces(text).map(|piece| event("delta", "delta", json!(piece))));
            let member = if name.ends_with("arguments") {
                "arguments"
            } else {
                "text"
            };
            events.push(event("done", member, json!(text)));
            events.extend(part_event(&self.whole, index, "done"));
        }
        events.push(item("done", &self.whole));
        events
    }
}

/// The event of a part that begins or ends, if the item has parts.
fn part_event(item: &Value, index: usize, step: &str) -> Option<Value> {
    let (kind, place, list) = match item["type"].as_str()? {
        "message" => ("content_part", "content_index", "content"),
        "reasoning" => ("reasoning_summary_part", "summary_index", "summary"),
        _ => return None,
    };
    let mut part = item[list][0].clone();
    if step == "added" {
        part["text"] = json!("");
    }
    Some(
        json!({"type": format!("response.{kind}.{step}"), "item_id": item["id"], "output_index": index, place: 0, "part": part}),
    )
}

/// An item at its start, without the content that deltas will add.
fn emptied(item: &Value) -> Value {
    let mut item = item.clone();
    for (field, nothing) in [
        ("content", json!([])),
        ("summary", json!([])),
        ("arguments", json!("")),
    ] {
        if let Some(value) = item.get_mut(field) {
            *value = nothing;
        }
    }
    if let Some(status) = item.get_mut("status") {
        *status = json!("in_progress");
    }
    item
}

fn output(answer: &Answer) -> Vec<Item> {
    let mut output = Vec::new();
    if let Some(thought) = &answer.thought {
        let summary = json!([{"type": "summary_text", "text": thought}]);
        let mut item = Item::new(json!({"id": id("rs_"), "type": "reasoning", "summary": summary}));
        item.text = Some((
            "reasoning_summary_text",
            json!({"summary_index": 0}),
            thought.clone(),
        ));
        output.push(item);
    }
    if !answer.text.is_empty() {
        let part =
            json!({"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []});
        let mut item = Item::new(
            json!({"id": id("msg_"), "type": "message", "status": "completed", "role": "assistant", "content": [part]}),
        );
        item.text = Some((
            "output_text",
            json!({"content_index": 0, "logprobs": []}),
            answer.text.clone(),
        ));
        output.push(item);
    }
    for (name, arguments) in &answer.calls {
        let arguments = arguments.to_string();
        let mut item = Item::new(
            json!({"id": id("fc_"), "type": "function_call", "status": "completed", "call_id": id("call_"), "name": name, "arguments": arguments}),
        );
        item.text = Some(("function_call_arguments", json!({}), arguments));
        output.push(item);
    }
    output
}

/// The response: complete with its output, or at its start.
fn response(id: &str, model: &str, answer: &Answer, output: Option<Value>) -> Value {
    let is_cut = answer.end == End::Limit;
    let status = match &output {
        None => "in_progress",
        Some(_) if is_cut => "incomplete",
        Some(_) => "completed",
    };
    let details = (status == "incomplete").then(|| json!({"reason": "max_output_tokens"}));
    let usage = output.is_some().then(|| usage(answer));
    json!({
        "id": id, "object": "response", "created_at": now(), "status": status, "error": null, "incomplete_details": details,
        "instructions": null, "metadata": {}, "model": model, "output": output.unwrap_or(json!([])), "parallel_tool_calls": true,
        "store": false, "temperature": 1.0, "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [], "top_p": 1.0, "usage": usage,
    })
}

fn usage(answer: &Answer) -> Value {
    let output = answer.answer_tokens + answer.thought_tokens;
    json!({
        "input_tokens": answer.prompt_tokens, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": answer.thought_tokens}, "total_tokens": answer.prompt_tokens + output,
    })
}
