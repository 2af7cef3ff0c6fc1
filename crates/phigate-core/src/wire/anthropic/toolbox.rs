//! Tools in Anthropic's form, and the answer as a tool for models that cannot follow a schema otherwise.

use super::super::request::Refusal;
use super::super::translate::draft::Draft;
use super::super::translate::messages::Message;
use super::super::translate::tools::{
    AnswerForm, Choice, Tool, Tools, object_schema, open_object, read_answer_form, read_tools,
};
use super::models::{Thinking, Traits};
use crate::json::Json;

/// The answer tool: its input is the answer.
const ANSWER_TOOL: &str = "json_tool_call";

/// Tools, the choice among them, and the form of the answer, which is a tool for older models.
pub(super) struct Toolbox<'b> {
    tools: Vec<Json<'b>>,
    choice: Option<Choice<'b>>,
    one_at_a_time: bool,
    /// The name of the answer tool.
    pub(super) answer_tool: Option<String>,
    /// The schema of the answer, if the model can follow one.
    pub(super) native_schema: Option<Json<'b>>,
}

impl<'b> Toolbox<'b> {
    /// Reads tools, choice and form of answer.
    pub(super) fn read(
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

    /// Declares every tool of the history. The provider requires it, even if the caller no longer offers the tool.
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

    /// Adds the answer tool, and forces a call of it or of another tool.
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
            ("input_schema", object_schema(Some(schema))),
        ]));
        if !matches!(self.choice, Some(Choice::Named(_))) {
            self.choice = Some(Choice::Required);
        }
        self.answer_tool = Some(name);
    }

    /// Whether the model must call a tool.
    pub(super) fn is_forced(&self) -> bool {
        matches!(self.choice, Some(Choice::Required | Choice::Named(_)))
    }

    /// Drops the forced choice for a model that cannot be forced to call a tool.
    pub(super) fn unforce_if_impossible(&mut self, draft: &Draft<'_>, traits: &Traits) {
        if traits.thinking == Thinking::Always && self.is_forced() {
            draft.adjust("tool_choice");
            self.choice = Some(Choice::Auto);
        }
    }

    /// Adds tools and choice to a request.
    pub(super) fn write(self, body: &mut Json<'b>) {
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
    json.insert("input_schema", object_schema(tool.parameters));
    if tool.strict {
        if traits.has_schemas {
            json.insert("strict", true.into());
        } else {
            draft.adjust("tools");
        }
    }
    Ok(json)
}
