//! Tools in Converse's form, and the answer as a tool for models that cannot follow a schema otherwise.

use super::super::anthropic::Thinking;
use super::super::request::Refusal;
use super::super::translate::draft::Draft;
use super::super::translate::messages::Message;
use super::super::translate::tools::{
    AnswerForm, Choice, Tool, Tools, object_schema, open_object, read_answer_form, read_tools,
};
use super::models::{Force, Model};
use crate::json::Json;

/// The answer tool: its input is the answer.
const ANSWER_TOOL: &str = "json_tool_call";

/// The longest name of a tool.
const NAME_BYTES_MAX: usize = 64;

/// Tools, the choice among them, and the form of the answer, which is a tool for most models.
pub(super) struct Toolbox<'b> {
    tools: Vec<(String, Json<'b>)>,
    choice: Option<Choice<'b>>,
    one_at_a_time: bool,
    has_history: bool,
    /// The name of the answer tool.
    pub(super) answer_tool: Option<String>,
    /// The schema of the answer, if the model can follow one.
    pub(super) native_schema: Option<Json<'b>>,
}

impl<'b> Toolbox<'b> {
    /// Reads tools, choice and form of answer.
    pub(super) fn read(
        draft: &'b Draft<'b>,
        model: &Model,
        messages: &[Message<'b>],
    ) -> Result<Self, Refusal> {
        let Tools {
            list,
            choice,
            one_at_a_time,
        } = read_tools(draft)?;
        let mut toolbox = Self {
            tools: Vec::with_capacity(list.len()),
            choice,
            one_at_a_time,
            has_history: messages.iter().any(|message| !message.calls.is_empty()),
            answer_tool: None,
            native_schema: None,
        };
        for tool in &list {
            let spec = tool_spec(draft, model, tool)?;
            toolbox.tools.push((tool.name.to_owned(), spec));
        }
        if toolbox.tools.is_empty() {
            toolbox.declare_tools_of_history(messages);
        }
        match read_answer_form(draft)? {
            AnswerForm::Text => {}
            AnswerForm::AnyObject if model.traits.has_schemas => {
                toolbox.native_schema = Some(open_object());
            }
            AnswerForm::Schema(schema) if model.traits.has_schemas => {
                toolbox.native_schema = Some(schema.clone());
            }
            AnswerForm::AnyObject => draft.drop_parameter("response_format"),
            AnswerForm::Schema(_) if model.traits.force == Force::Nothing => {
                draft.drop_parameter("response_format");
            }
            AnswerForm::Schema(schema) => toolbox.answer_by_tool(schema),
        }
        toolbox.fit_choice(draft, model);
        Ok(toolbox)
    }

    /// Declares every tool of the history. The provider requires it, even if the caller no longer offers the tool.
    fn declare_tools_of_history(&mut self, messages: &[Message<'b>]) {
        for call in messages.iter().flat_map(|message| &message.calls) {
            if !self.tools.iter().any(|(name, _)| name == call.name) {
                let spec = spec(call.name, None, open_object());
                self.tools.push((call.name.to_owned(), spec));
                self.choice = Some(Choice::Nothing);
            }
        }
    }

    /// Adds the answer tool, and forces a call of it or of another tool.
    fn answer_by_tool(&mut self, schema: &'b Json<'b>) {
        let mut name = ANSWER_TOOL.to_owned();
        while self.tools.iter().any(|(known, _)| *known == name) {
            name.push('_');
        }
        if matches!(self.choice, Some(Choice::Nothing)) && !self.has_history {
            self.tools.clear();
        }
        let description = "Gives the answer. Call this tool with the complete answer as its input.";
        let spec = spec(name.clone(), Some(description), object_schema(Some(schema)));
        self.tools.push((name.clone(), spec));
        if !matches!(self.choice, Some(Choice::Named(_))) {
            self.choice = Some(Choice::Required);
        }
        self.answer_tool = Some(name);
    }

    /// Drops the forced choice for a model that cannot be forced to call a tool.
    fn fit_choice(&mut self, draft: &Draft<'_>, model: &Model) {
        let cannot_be_forced = model
            .claude
            .is_some_and(|claude| claude.thinking == Thinking::Always);
        let fits = match (self.choice, model.traits.force) {
            (Some(Choice::Required), Force::Nothing) | (Some(Choice::Named(_)), Force::Nothing) => {
                None
            }
            (Some(Choice::Required | Choice::Named(_)), _) if cannot_be_forced => None,
            (Some(Choice::Named(_)), Force::Any) => Some(Choice::Required),
            (choice, _) => choice,
        };
        if fits != self.choice {
            let asked = draft.given("tool_choice").is_some();
            draft.adjust(if asked {
                "tool_choice"
            } else {
                "response_format"
            });
            self.choice = fits;
        }
    }

    /// Whether the model must call a tool.
    pub(super) fn is_forced(&self) -> bool {
        matches!(self.choice, Some(Choice::Required | Choice::Named(_)))
    }

    /// Adds tools and choice to a request. A choice that Converse cannot express goes into the additional fields of
    /// Anthropic's models.
    pub(super) fn write(
        self,
        draft: &Draft<'_>,
        model: &Model,
        body: &mut Json<'b>,
        additional: &mut Json<'b>,
    ) {
        let calls_nothing = self.choice == Some(Choice::Nothing);
        if self.tools.is_empty() || (calls_nothing && !self.has_history) {
            return;
        }
        let tools = self.tools.into_iter().map(|(_, spec)| spec).collect();
        let mut config = Json::object([("tools", Json::List(tools))]);
        let own_choice = match self.choice {
            Some(Choice::Required) => Some(Json::object([("any", Json::object([]))])),
            Some(Choice::Named(name)) => {
                let named = Json::object([("name", Json::text(name))]);
                Some(Json::object([("tool", named)]))
            }
            None | Some(Choice::Auto | Choice::Nothing) => None,
        };
        let wants_more = calls_nothing || self.one_at_a_time;
        if wants_more && model.claude.is_some() {
            additional.insert("tool_choice", claude_choice(self.choice));
        } else {
            if wants_more {
                let name = if calls_nothing {
                    "tool_choice"
                } else {
                    "parallel_tool_calls"
                };
                draft.drop_parameter(name);
            }
            if let Some(choice) = own_choice {
                config.insert("toolChoice", choice);
            }
        }
        body.insert("toolConfig", config);
    }
}

/// A choice in the words of Anthropic's API: no call at all, or one at a time.
fn claude_choice<'b>(choice: Option<Choice<'b>>) -> Json<'b> {
    let mut json = match choice {
        Some(Choice::Nothing) => return Json::object([("type", Json::text("none"))]),
        None | Some(Choice::Auto) => Json::object([("type", Json::text("auto"))]),
        Some(Choice::Required) => Json::object([("type", Json::text("any"))]),
        Some(Choice::Named(name)) => {
            Json::object([("type", Json::text("tool")), ("name", Json::text(name))])
        }
    };
    json.insert("disable_parallel_tool_use", true.into());
    json
}

fn tool_spec<'b>(draft: &Draft<'_>, model: &Model, tool: &Tool<'b>) -> Result<Json<'b>, Refusal> {
    let is_plain = (1..=NAME_BYTES_MAX).contains(&tool.name.len())
        && tool
            .name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if !is_plain {
        return Err(Refusal::value(
            format!("tools[{}].function.name", tool.position),
            "a name may hold up to 64 letters, digits, _ and - only",
        ));
    }
    let mut json = spec(tool.name, tool.description, object_schema(tool.parameters));
    if tool.strict {
        match &mut json {
            Json::Object(members) if model.traits.has_schemas => {
                if let Some((_, spec)) = members.first_mut() {
                    spec.insert("strict", true.into());
                }
            }
            _ => draft.adjust("tools"),
        }
    }
    Ok(json)
}

fn spec<'b>(
    name: impl Into<std::borrow::Cow<'b, str>>,
    description: Option<&'b str>,
    schema: Json<'b>,
) -> Json<'b> {
    let mut spec = Json::object([("name", Json::text(name))]);
    if let Some(description) = description.filter(|text| !text.is_empty()) {
        spec.insert("description", Json::text(description));
    }
    spec.insert("inputSchema", Json::object([("json", schema)]));
    Json::object([("toolSpec", spec)])
}
