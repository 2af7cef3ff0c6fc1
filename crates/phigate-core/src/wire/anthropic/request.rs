//! Translation of a caller's request into Anthropic's.

use super::super::request::{Call, Expectation, Refusal, Translated};
use super::super::translate::draft::{Draft, include_usage, max_tokens, stop_sequences};
use super::super::translate::messages::read_messages;
use super::HEADERS;
use super::conversation::{self, CARRIER, Thoughts};
use super::models::{Sampling, traits_of};
use super::parameters::PARAMETERS;
use super::thinking::{self, Room};
use super::toolbox::Toolbox;
use crate::json::Json;

/// Translates a request.
pub(super) fn write(call: &Call<'_>) -> Result<Translated, Refusal> {
    let draft = Draft::open(call, PARAMETERS)?;
    let traits = traits_of(call.model);
    let messages = read_messages(&draft, &[CARRIER, "reasoning_content"])?;
    let thoughts = Thoughts::new(call);
    let conversation = conversation::write(&draft, &thoughts, &messages)?;
    let limit = max_tokens(&draft)?.unwrap_or(traits.max_tokens_default);

    let mut body = Json::object([
        (call.opening.0, Json::text(call.opening.1)),
        ("max_tokens", limit.into()),
        ("messages", Json::List(conversation.turns)),
    ]);
    if let Some(system) = conversation.system {
        body.insert("system", system);
    }
    write_plain(call, &draft, &mut body)?;
    let mut toolbox = Toolbox::read(&draft, traits, &messages)?;
    toolbox.unforce_if_impossible(&draft, traits);
    let room = Room {
        limit,
        is_forced: toolbox.is_forced(),
        lacks_thoughts: thinking::lacks_thoughts(&thoughts, &messages),
    };
    let effort = thinking::write(&draft, traits, &room, &mut body)?;
    let is_thinking = body
        .get("thinking")
        .is_some_and(|thinking| thinking.text_of("type") != Some("disabled"));
    write_sampling(&draft, traits.sampling, is_thinking, "top_p", &mut body)?;
    write_output_config(effort, toolbox.native_schema.take(), &mut body);
    let answer_tool = toolbox.answer_tool.clone();
    toolbox.write(&mut body);

    let expectation = Expectation {
        include_usage: include_usage(&draft)?,
        answer_tool,
    };
    let body = body.to_bytes();
    drop(messages);
    let (adjusted, dropped) = draft.into_names();
    Ok(Translated {
        path: vec!["v1".to_owned(), "messages".to_owned()],
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

/// Writes the parameters that do not depend on the model: stream, stop sequences and the end user.
fn write_plain<'b>(
    call: &Call<'_>,
    draft: &'b Draft<'b>,
    body: &mut Json<'b>,
) -> Result<(), Refusal> {
    if call.stream {
        body.insert("stream", true.into());
    }
    let stop = stop_list(draft)?;
    if !stop.is_empty() {
        body.insert("stop_sequences", Json::List(stop));
    }
    if let Some(user) = end_user(draft)? {
        let user = Json::text((call.hash_user)(user));
        body.insert("metadata", Json::object([("user_id", user)]));
    }
    Ok(())
}

fn stop_list<'b>(draft: &'b Draft<'b>) -> Result<Vec<Json<'b>>, Refusal> {
    let sequences = stop_sequences(draft)?;
    if let Some(position) = sequences.iter().position(|text| text.trim().is_empty()) {
        let place = if matches!(draft.given("stop"), Some(Json::List(_))) {
            format!("stop[{position}]")
        } else {
            "stop".to_owned()
        };
        return Err(Refusal::value(
            place,
            "this provider does not accept a stop sequence of only spaces",
        ));
    }
    Ok(sequences.into_iter().map(Json::text).collect())
}

fn end_user<'b>(draft: &'b Draft<'_>) -> Result<Option<&'b str>, Refusal> {
    let (user, safety) = (draft.text("user")?, draft.text("safety_identifier")?);
    if user.is_some() && safety.is_some() {
        draft.drop_parameter("safety_identifier");
    }
    Ok(user.or(safety).filter(|user| !user.is_empty()))
}

/// Writes the sampling parameters that a model accepts. Bedrock names `top_p` differently.
pub(in super::super) fn write_sampling<'b>(
    draft: &'b Draft<'b>,
    accepted: Sampling,
    is_thinking: bool,
    top_p: &'static str,
    body: &mut Json<'b>,
) -> Result<(), Refusal> {
    if let Some((value, number)) = draft.number("temperature")? {
        // While the model thinks, only its default temperature is accepted.
        if accepted == Sampling::Neither || (is_thinking && number != 1.0) {
            draft.drop_parameter("temperature");
        } else if number > 1.0 {
            draft.adjust("temperature");
            body.insert("temperature", 1.into());
        } else {
            body.insert("temperature", value.clone());
        }
    }
    if let Some((value, number)) = draft.number("top_p")? {
        let is_refused = match accepted {
            Sampling::Both => false,
            Sampling::Either => body.get("temperature").is_some(),
            Sampling::Neither => true,
        };
        if is_refused || (is_thinking && number < 0.95) {
            draft.drop_parameter("top_p");
        } else {
            body.insert(top_p, value.clone());
        }
    }
    Ok(())
}

fn write_output_config<'b>(
    effort: Option<&'static str>,
    schema: Option<Json<'b>>,
    body: &mut Json<'b>,
) {
    let mut config = Json::object([]);
    if let Some(effort) = effort {
        config.insert("effort", Json::text(effort));
    }
    if let Some(schema) = schema {
        config.insert(
            "format",
            Json::object([("type", Json::text("json_schema")), ("schema", schema)]),
        );
    }
    if !config.members().is_empty() {
        body.insert("output_config", config);
    }
}
