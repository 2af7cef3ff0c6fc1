//! Translation of a caller's request into Converse's.

use super::super::anthropic::{CARRIER, Sampling, Thoughts, lacks_thoughts, write_sampling};
use super::super::request::{Call, Expectation, Refusal, Translated};
use super::super::translate::draft::{Draft, include_usage, max_tokens, stop_sequences};
use super::super::translate::messages::read_messages;
use super::models::{Model, model_of};
use super::parameters::PARAMETERS;
use super::thinking;
use super::toolbox::Toolbox;
use super::{HEADERS, conversation};
use crate::json::Json;

/// Translates a request.
pub(super) fn write(call: &Call<'_>) -> Result<Translated, Refusal> {
    let draft = Draft::open(call, PARAMETERS)?;
    let model = model_of(
        call.model,
        draft.body().text_of("model").unwrap_or_default(),
    );
    let messages = read_messages(&draft, &[CARRIER, "reasoning_content"])?;
    let thoughts = Thoughts::new(call);
    let conversation = conversation::write(&draft, &model, &thoughts, &messages)?;

    let mut body = Json::object([("messages", Json::List(conversation.turns))]);
    if !conversation.system.is_empty() {
        body.insert("system", Json::List(conversation.system));
    }
    let mut toolbox = Toolbox::read(&draft, &model, &messages)?;
    let mut additional = Json::object([]);
    let limit = max_tokens(&draft)?;
    let asks = thinking::Asks {
        limit,
        is_forced: toolbox.is_forced(),
        lacks_thoughts: lacks_thoughts(&thoughts, &messages),
    };
    let effort = thinking::write(&draft, &model, &asks, &mut additional)?;
    let is_thinking = additional
        .get("thinking")
        .is_some_and(|thinking| thinking.text_of("type") != Some("disabled"));
    let config = inference_config(&draft, &model, limit, is_thinking)?;
    insert_unless_empty(&mut body, "inferenceConfig", config);
    let output = output_config(effort, toolbox.native_schema.take());
    insert_unless_empty(&mut body, "outputConfig", output);
    let answer_tool = toolbox.answer_tool.clone();
    toolbox.write(&draft, &model, &mut body, &mut additional);
    insert_unless_empty(&mut body, "additionalModelRequestFields", additional);

    let expectation = Expectation {
        include_usage: include_usage(&draft)?,
        answer_tool,
    };
    let body = body.to_bytes();
    drop(messages);
    let (adjusted, dropped) = draft.into_names();
    let method = if call.stream {
        "converse-stream"
    } else {
        "converse"
    };
    Ok(Translated {
        path: ["model", call.model, method].map(str::to_owned).to_vec(),
        query: None,
        headers: HEADERS,
        given: Vec::new(),
        body,
        is_as_scanned: false,
        adjusted,
        dropped,
        expectation,
    })
}

fn insert_unless_empty<'b>(body: &mut Json<'b>, name: &'static str, value: Json<'b>) {
    if !value.members().is_empty() {
        body.insert(name, value);
    }
}

fn inference_config<'b>(
    draft: &'b Draft<'b>,
    model: &Model,
    limit: Option<u64>,
    is_thinking: bool,
) -> Result<Json<'b>, Refusal> {
    let mut config = Json::object([]);
    if let Some(limit) = limit {
        config.insert("maxTokens", limit.into());
    }
    // Converse takes temperatures up to 1; the newest models of Anthropic take fewer of these settings.
    let accepted = model
        .claude
        .map_or(Sampling::Both, |claude| claude.sampling);
    write_sampling(draft, accepted, is_thinking, "topP", &mut config)?;
    let stop = stop_list(draft, model)?;
    if !stop.is_empty() {
        config.insert("stopSequences", Json::List(stop));
    }
    Ok(config)
}

fn stop_list<'b>(draft: &'b Draft<'b>, model: &Model) -> Result<Vec<Json<'b>>, Refusal> {
    let sequences = stop_sequences(draft)?;
    let is_refused =
        |text: &&str| text.is_empty() || (model.claude.is_some() && text.trim().is_empty());
    if let Some(position) = sequences.iter().position(is_refused) {
        let place = match draft.given("stop") {
            Some(Json::List(_)) => format!("stop[{position}]"),
            _ => "stop".to_owned(),
        };
        return Err(Refusal::value(
            place,
            "this provider does not accept an empty stop sequence, and some models none of only spaces",
        ));
    }
    Ok(sequences.into_iter().map(Json::text).collect())
}

/// The form of the answer, as a schema in a string, and the effort to spend on it.
fn output_config(effort: Option<&'static str>, schema: Option<Json<'_>>) -> Json<'static> {
    let mut config = Json::object([]);
    if let Some(schema) = schema {
        let described = Json::object([("schema", Json::text(schema.to_json_text()))]);
        let structure = Json::object([("jsonSchema", described)]);
        let format = Json::object([
            ("type", Json::text("json_schema")),
            ("structure", structure),
        ]);
        config.insert("textFormat", format);
    }
    if let Some(effort) = effort {
        config.insert("effort", Json::text(effort));
    }
    config
}
