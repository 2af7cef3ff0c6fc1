//! Translation of a caller's request into Google's.

use super::super::request::{Call, Expectation, Refusal, Translated};
use super::super::translate::draft::{Draft, include_usage, max_tokens, stop_sequences};
use super::super::translate::messages::read_messages;
use super::super::translate::tools::{
    AnswerForm, Choice, Tool, Tools, read_answer_form, read_tools,
};
use super::contents::{self, CARRIER};
use super::models::{Traits, traits_of};
use super::parameters::PARAMETERS;
use super::{HEADERS, bare_name, schema, thinking};
use crate::json::Json;

/// The most stop sequences, candidates and probabilities that the provider takes.
const STOP_MAX: usize = 5;
const CANDIDATES_MAX: u64 = 8;
const LOGPROBS_MAX: u64 = 5;

/// Translates a request.
pub(super) fn write(call: &Call<'_>) -> Result<Translated, Refusal> {
    let draft = Draft::open(call, PARAMETERS)?;
    let model = bare_name(call.model);
    let traits = traits_of(model);
    let messages = read_messages(&draft, &[CARRIER, "reasoning_content"])?;
    let mut body = Json::object([(
        "contents",
        Json::List(contents::write(&draft, traits, &messages)?),
    )]);
    let config = generation_config(&draft, traits)?;
    if !config.members().is_empty() {
        body.insert("generationConfig", config);
    }
    write_tools(&draft, traits, &mut body)?;
    let expectation = Expectation {
        include_usage: include_usage(&draft)?,
        answer_tool: None,
    };
    let body = body.to_bytes();
    drop(messages);

    let method = if call.stream {
        "streamGenerateContent"
    } else {
        "generateContent"
    };
    let (adjusted, dropped) = draft.into_names();
    Ok(Translated {
        path: vec![
            "v1beta".to_owned(),
            "models".to_owned(),
            format!("{model}:{method}"),
        ],
        query: call.stream.then_some("alt=sse".into()),
        headers: HEADERS,
        given: Vec::new(),
        body,
        is_as_scanned: false,
        adjusted,
        dropped,
        expectation,
    })
}

fn generation_config<'b>(draft: &'b Draft<'b>, traits: &Traits) -> Result<Json<'b>, Refusal> {
    let mut config = Json::object([]);
    if let Some(limit) = max_tokens(draft)? {
        config.insert("maxOutputTokens", limit.into());
    }
    for (name, theirs) in [
        ("temperature", "temperature"),
        ("top_p", "topP"),
        ("presence_penalty", "presencePenalty"),
        ("frequency_penalty", "frequencyPenalty"),
    ] {
        if let Some((value, _)) = draft.number(name)? {
            config.insert(theirs, value.clone());
        }
    }
    let stop = stop_list(draft)?;
    if !stop.is_empty() {
        config.insert("stopSequences", Json::List(stop));
    }
    if let Some((value, number)) = draft.number("seed")? {
        let fits =
            number.fract() == 0.0 && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&number);
        if fits {
            config.insert("seed", value.clone());
        } else {
            draft.drop_parameter("seed");
        }
    }
    match draft.count("n")? {
        None => {}
        Some(count) if (1..=CANDIDATES_MAX).contains(&count) => {
            config.insert("candidateCount", count.into());
        }
        Some(_) => {
            return Err(Refusal::value(
                "n",
                "this provider gives 1 to 8 answers per request",
            ));
        }
    }
    write_logprobs(draft, &mut config)?;
    thinking::write(draft, traits, &mut config)?;
    write_answer_form(draft, traits, &mut config)?;
    Ok(config)
}

fn stop_list<'b>(draft: &'b Draft<'b>) -> Result<Vec<Json<'b>>, Refusal> {
    let sequences = stop_sequences(draft)?;
    if sequences.len() > STOP_MAX {
        return Err(Refusal::value(
            "stop",
            "this provider accepts up to five stop sequences",
        ));
    }
    if sequences.contains(&"") {
        return Err(Refusal::value(
            "stop",
            "this provider does not accept an empty stop sequence",
        ));
    }
    Ok(sequences.into_iter().map(Json::text).collect())
}

fn write_logprobs(draft: &Draft<'_>, config: &mut Json<'_>) -> Result<(), Refusal> {
    if draft.given("logprobs").is_some() {
        config.insert("responseLogprobs", true.into());
    }
    if let Some(count) = draft.count("top_logprobs")? {
        if count > LOGPROBS_MAX {
            draft.adjust("top_logprobs");
        }
        config.insert("logprobs", count.min(LOGPROBS_MAX).into());
    }
    Ok(())
}

fn write_answer_form<'b>(
    draft: &'b Draft<'b>,
    traits: &Traits,
    config: &mut Json<'b>,
) -> Result<(), Refusal> {
    let form = read_answer_form(draft)?;
    if !matches!(form, AnswerForm::Text) {
        config.insert("responseMimeType", Json::text("application/json"));
    }
    if let AnswerForm::Schema(asked) = form {
        if traits.has_json_schema {
            config.insert("responseJsonSchema", asked.clone());
        } else {
            let (subset, is_whole) = schema::subset(asked);
            if !is_whole {
                draft.adjust("response_format");
            }
            config.insert("responseSchema", subset);
        }
    }
    Ok(())
}

fn write_tools<'b>(
    draft: &'b Draft<'b>,
    traits: &Traits,
    body: &mut Json<'b>,
) -> Result<(), Refusal> {
    let Tools { list, choice, .. } = read_tools(draft)?;
    if list.is_empty() {
        return Ok(());
    }
    let mut declarations = Vec::with_capacity(list.len());
    for tool in &list {
        declarations.push(declaration(draft, traits, tool)?);
    }
    body.insert(
        "tools",
        Json::List(vec![Json::object([(
            "functionDeclarations",
            Json::List(declarations),
        )])]),
    );
    let Some(choice) = choice else {
        return Ok(());
    };
    let mode = match choice {
        Choice::Auto => "AUTO",
        Choice::Nothing => "NONE",
        Choice::Required | Choice::Named(_) => "ANY",
    };
    let mut calling = Json::object([("mode", Json::text(mode))]);
    if let Choice::Named(name) = choice {
        calling.insert("allowedFunctionNames", Json::List(vec![Json::text(name)]));
    }
    body.insert(
        "toolConfig",
        Json::object([("functionCallingConfig", calling)]),
    );
    Ok(())
}

fn declaration<'b>(
    draft: &Draft<'_>,
    traits: &Traits,
    tool: &Tool<'b>,
) -> Result<Json<'b>, Refusal> {
    let starts_well = tool
        .name
        .starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let is_plain = tool.name.len() <= 128
        && tool
            .name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':'));
    if !starts_well || !is_plain {
        return Err(Refusal::value(
            format!("tools[{}].function.name", tool.position),
            "a name must start with a letter or _ and may hold letters, digits, _ . : and - only",
        ));
    }
    if tool.strict {
        draft.adjust("tools");
    }
    let mut json = Json::object([("name", Json::text(tool.name))]);
    if let Some(description) = tool.description {
        json.insert("description", Json::text(description));
    }
    let has_input = tool
        .parameters
        .is_some_and(|schema| !schema.members().is_empty());
    if let Some(parameters) = tool.parameters.filter(|_| has_input) {
        if traits.has_json_schema {
            json.insert("parametersJsonSchema", parameters.clone());
        } else if parameters
            .get("properties")
            .is_some_and(|properties| !properties.members().is_empty())
        {
            let (subset, is_whole) = schema::subset(parameters);
            if !is_whole {
                draft.adjust("tools");
            }
            json.insert("parameters", subset);
        }
    }
    Ok(json)
}
