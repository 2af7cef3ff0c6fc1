//! From a caller's request to Anthropic's.

use super::super::request::{Call, Expectation, HeaderValue, ProviderRequest, Refusal};
use super::super::translate::draft::{Draft, include_usage, max_tokens, stop_sequences};
use super::super::translate::messages::{Message, Role, read_messages};
use super::super::translate::tools::{
    AnswerForm, Choice, Tool, Tools, read_answer_form, read_tools,
};
use super::super::tree::Json;
use super::conversation::{self, CARRIER};
use super::models::{Sampling, Thinking, Traits, traits_of};
use super::parameters::PARAMETERS;

/// The tool whose input is the answer, for models that cannot follow a schema otherwise.
const ANSWER_TOOL: &str = "json_tool_call";

/// Translates a request.
pub(super) fn write(call: &Call<'_>) -> Result<ProviderRequest, Refusal> {
    let draft = Draft::open(call, PARAMETERS)?;
    let traits = traits_of(call.model);
    let messages = read_messages(&draft, &[CARRIER, "reasoning_content"])?;
    let conversation = conversation::write(&draft, &messages)?;
    let limit = max_tokens(&draft)?.unwrap_or(traits.max_tokens_default);

    let mut body = Json::object([
        ("model", Json::text(call.model)),
        ("max_tokens", limit.into()),
        ("messages", Json::List(conversation.turns)),
    ]);
    if let Some(system) = conversation.system {
        body.insert("system", system);
    }
    if call.stream {
        body.insert("stream", true.into());
    }
    let stop = stop_list(&draft)?;
    if !stop.is_empty() {
        body.insert("stop_sequences", Json::List(stop));
    }
    if let Some(user) = end_user(&draft)? {
        body.insert(
            "metadata",
            Json::object([("user_id", Json::text((call.hash_user)(user)))]),
        );
    }
    let mut toolbox = Toolbox::read(&draft, traits, &messages)?;
    let effort = write_thinking(&draft, traits, limit, &mut toolbox, &messages, &mut body)?;
    write_sampling(
        &draft,
        traits,
        body.get("thinking")
            .is_some_and(|thinking| thinking.text_of("type") != Some("disabled")),
        &mut body,
    )?;
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
    Ok(ProviderRequest {
        path: vec!["v1".to_owned(), "messages".to_owned()],
        query: None,
        headers: vec![
            ("content-type", HeaderValue::Fixed("application/json")),
            ("x-api-key", HeaderValue::Key),
            ("anthropic-version", HeaderValue::Fixed("2023-06-01")),
        ],
        body,
        adjusted,
        dropped,
        expectation,
    })
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
            "this provider does not accept a stop sequence of spaces alone",
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

fn write_sampling<'b>(
    draft: &'b Draft<'b>,
    traits: &Traits,
    is_thinking: bool,
    body: &mut Json<'b>,
) -> Result<(), Refusal> {
    let temperature = draft.number("temperature")?;
    let top_p = draft.number("top_p")?;
    if let Some((value, number)) = temperature {
        // While the model thinks, only its default temperature is accepted.
        if traits.sampling == Sampling::Neither || (is_thinking && number != 1.0) {
            draft.drop_parameter("temperature");
        } else if number > 1.0 {
            draft.adjust("temperature");
            body.insert("temperature", 1.into());
        } else {
            body.insert("temperature", value.clone());
        }
    }
    if let Some((value, number)) = top_p {
        let has_temperature = body.get("temperature").is_some();
        let is_refused = match traits.sampling {
            Sampling::Both => false,
            Sampling::Either => has_temperature,
            Sampling::Neither => true,
        };
        if is_refused || (is_thinking && number < 0.95) {
            draft.drop_parameter("top_p");
        } else {
            body.insert("top_p", value.clone());
        }
    }
    Ok(())
}

/// Asks for reasoning in the way of the model; gives the effort to ask for, where that is a setting of its own.
fn write_thinking(
    draft: &Draft<'_>,
    traits: &Traits,
    limit: u64,
    toolbox: &mut Toolbox<'_>,
    messages: &[Message<'_>],
    body: &mut Json<'_>,
) -> Result<Option<&'static str>, Refusal> {
    let Some(asked) = draft.text("reasoning_effort")? else {
        toolbox.unforce_if_impossible(draft, traits);
        return Ok(None);
    };
    let (budget, effort) = match asked {
        "none" => {
            match traits.thinking {
                Thinking::Unknown | Thinking::Budget => {}
                Thinking::Effort | Thinking::EffortShown => {
                    body.insert("thinking", Json::object([("type", Json::text("disabled"))]));
                }
                Thinking::Always => draft.drop_parameter("reasoning_effort"),
            }
            toolbox.unforce_if_impossible(draft, traits);
            return Ok(None);
        }
        "minimal" => (1_024, "low"),
        "low" => (1_024, "low"),
        "medium" => (2_048, "medium"),
        "high" => (4_096, "high"),
        "xhigh" => (8_192, "xhigh"),
        "max" => (16_384, "max"),
        _ => {
            return Err(Refusal::value(
                "reasoning_effort",
                "this must be none, minimal, low, medium, high, xhigh or max",
            ));
        }
    };
    toolbox.unforce_if_impossible(draft, traits);
    match traits.thinking {
        Thinking::Unknown => draft.drop_parameter("reasoning_effort"),
        // A forced tool and thinking exclude each other, and so do a short limit and thoughts lost on the way.
        _ if toolbox.is_forced() => draft.drop_parameter("reasoning_effort"),
        Thinking::Budget if limit <= 1_024 || lacks_thoughts(messages) => {
            draft.drop_parameter("reasoning_effort");
        }
        Thinking::Budget => {
            if budget >= limit {
                draft.adjust("reasoning_effort");
            }
            body.insert(
                "thinking",
                Json::object([
                    ("type", Json::text("enabled")),
                    ("budget_tokens", budget.min(limit - 1).into()),
                ]),
            );
        }
        Thinking::Effort | Thinking::EffortShown | Thinking::Always => {
            let is_shown_unasked = traits.thinking == Thinking::Effort;
            let effort = if is_shown_unasked && effort == "xhigh" {
                "high"
            } else {
                effort
            };
            if effort != asked {
                draft.adjust("reasoning_effort");
            }
            let mut thinking = Json::object([("type", Json::text("adaptive"))]);
            if !is_shown_unasked {
                thinking.insert("display", Json::text("summarized"));
            }
            body.insert("thinking", thinking);
            return Ok(Some(effort));
        }
    }
    Ok(None)
}

/// With a budget, the turn that called the last tools must bring its thoughts back. A caller that lost them cannot.
fn lacks_thoughts(messages: &[Message<'_>]) -> bool {
    let last_turn = messages
        .iter()
        .rev()
        .take_while(|message| message.role != Role::User);
    last_turn
        .filter(|message| !message.calls.is_empty())
        .any(|message| {
            message
                .source
                .get(CARRIER)
                .is_none_or(|thoughts| thoughts.items().is_empty())
        })
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

/// Tools, the choice among them, and the form of the answer, which is a tool for older models.
struct Toolbox<'b> {
    tools: Vec<Json<'b>>,
    choice: Option<Choice<'b>>,
    one_at_a_time: bool,
    answer_tool: Option<String>,
    native_schema: Option<Json<'b>>,
}

impl<'b> Toolbox<'b> {
    fn read(
        draft: &'b Draft<'b>,
        traits: &Traits,
        messages: &[Message<'b>],
    ) -> Result<Self, Refusal> {
        let Tools {
            list,
            choice,
            one_at_a_time,
        } = read_tools(draft)?;
        let mut tools = Vec::with_capacity(list.len());
        for tool in &list {
            tools.push(tool_json(draft, traits, tool)?);
        }
        let mut toolbox = Self {
            tools,
            choice,
            one_at_a_time,
            answer_tool: None,
            native_schema: None,
        };
        if toolbox.tools.is_empty() {
            toolbox.declare_tools_of_history(messages);
        }
        match read_answer_form(draft)? {
            AnswerForm::Text => {}
            AnswerForm::AnyObject if traits.has_schemas => {
                toolbox.native_schema = Some(open_object());
            }
            AnswerForm::Schema(schema) if traits.has_schemas => {
                toolbox.native_schema = Some(schema.clone());
            }
            AnswerForm::AnyObject => {
                return Err(Refusal::value(
                    "response_format",
                    "this model needs a schema to answer in JSON: send json_schema, or ask a newer model",
                ));
            }
            AnswerForm::Schema(schema) => toolbox.answer_by_tool(schema),
        }
        Ok(toolbox)
    }

    /// The provider wants every tool of the history declared, even where the caller offers none any more.
    fn declare_tools_of_history(&mut self, messages: &[Message<'b>]) {
        for call in messages.iter().flat_map(|message| &message.calls) {
            if !self
                .tools
                .iter()
                .any(|tool| tool.text_of("name") == Some(call.name))
            {
                self.tools.push(Json::object([
                    ("name", Json::text(call.name)),
                    ("input_schema", open_object()),
                ]));
                self.choice = Some(Choice::Nothing);
            }
        }
    }

    /// Adds a tool whose input is the answer, and makes the model call it or another tool of the caller's.
    fn answer_by_tool(&mut self, schema: &'b Json<'b>) {
        let mut name = ANSWER_TOOL.to_owned();
        while self
            .tools
            .iter()
            .any(|tool| tool.text_of("name") == Some(name.as_str()))
        {
            name.push('_');
        }
        let is_only = matches!(self.choice, Some(Choice::Nothing)) || self.tools.is_empty();
        if is_only {
            self.tools.clear();
        }
        let description = "Gives the answer. Call this tool with the complete answer as its input.";
        self.tools.push(Json::object([
            ("name", Json::text(name.clone())),
            ("description", Json::text(description)),
            ("input_schema", input_schema(Some(schema))),
        ]));
        if !matches!(self.choice, Some(Choice::Named(_))) {
            self.choice = Some(Choice::Required);
        }
        self.answer_tool = Some(name);
    }

    fn is_forced(&self) -> bool {
        matches!(self.choice, Some(Choice::Required | Choice::Named(_)))
    }

    fn unforce_if_impossible(&mut self, draft: &Draft<'_>, traits: &Traits) {
        if traits.thinking == Thinking::Always && self.is_forced() {
            draft.adjust("tool_choice");
            self.choice = Some(Choice::Auto);
        }
    }

    fn write(self, body: &mut Json<'b>) {
        if self.tools.is_empty() {
            return;
        }
        body.insert("tools", Json::List(self.tools));
        let choice = match (self.choice, self.one_at_a_time) {
            (None, false) => return,
            (None, true) | (Some(Choice::Auto), _) => Json::object([("type", Json::text("auto"))]),
            (Some(Choice::Nothing), _) => Json::object([("type", Json::text("none"))]),
            (Some(Choice::Required), _) => Json::object([("type", Json::text("any"))]),
            (Some(Choice::Named(name)), _) => {
                Json::object([("type", Json::text("tool")), ("name", Json::text(name))])
            }
        };
        let mut choice = choice;
        if self.one_at_a_time && self.choice != Some(Choice::Nothing) {
            choice.insert("disable_parallel_tool_use", true.into());
        }
        body.insert("tool_choice", choice);
    }
}

fn tool_json<'b>(draft: &Draft<'_>, traits: &Traits, tool: &Tool<'b>) -> Result<Json<'b>, Refusal> {
    let is_plain = (1..=128).contains(&tool.name.len())
        && tool
            .name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if !is_plain {
        return Err(Refusal::value(
            format!("tools[{}].function.name", tool.position),
            "a name may hold letters, digits, _ and - only",
        ));
    }
    let mut json = Json::object([("name", Json::text(tool.name))]);
    if let Some(description) = tool.description {
        json.insert("description", Json::text(description));
    }
    json.insert("input_schema", input_schema(tool.parameters));
    if tool.strict {
        if traits.has_schemas {
            json.insert("strict", true.into());
        } else {
            draft.adjust("tools");
        }
    }
    Ok(json)
}

/// The provider wants a schema whose type is `object`, spelled out.
fn input_schema<'b>(schema: Option<&'b Json<'b>>) -> Json<'b> {
    let Some(schema) = schema else {
        return Json::object([("type", Json::text("object"))]);
    };
    let mut members: Vec<_> = schema
        .members()
        .iter()
        .filter(|(name, _)| name != "type")
        .cloned()
        .collect();
    members.insert(0, ("type".into(), Json::text("object")));
    Json::Object(members)
}

fn open_object() -> Json<'static> {
    Json::object([
        ("type", Json::text("object")),
        ("additionalProperties", true.into()),
    ])
}
