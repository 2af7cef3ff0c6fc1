//! The tools of a caller's request, the choice among them, and the requested form of answer.

use super::super::request::Refusal;
use super::draft::Draft;
use crate::json::Json;

/// One function.
#[derive(Clone, Copy)]
pub(in super::super) struct Tool<'b> {
    /// Position in the request.
    pub(in super::super) position: usize,
    /// The name.
    pub(in super::super) name: &'b str,
    /// The description.
    pub(in super::super) description: Option<&'b str>,
    /// The schema of its input.
    pub(in super::super) parameters: Option<&'b Json<'b>>,
    /// Whether the input must follow the schema to the letter.
    pub(in super::super) strict: bool,
}

/// The choice among tools.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Choice<'b> {
    /// The model decides.
    Auto,
    /// No tool.
    Nothing,
    /// At least one tool.
    Required,
    /// The named tool.
    Named(&'b str),
}

/// The tools and the choice.
pub(in super::super) struct Tools<'b> {
    /// The functions that may be called.
    pub(in super::super) list: Vec<Tool<'b>>,
    /// The choice, when the caller made one.
    pub(in super::super) choice: Option<Choice<'b>>,
    /// Whether the caller wants one call at a time.
    pub(in super::super) one_at_a_time: bool,
}

/// The requested form of answer.
#[derive(Clone, Copy)]
pub(in super::super) enum AnswerForm<'b> {
    /// Free text.
    Text,
    /// Some JSON object.
    AnyObject,
    /// JSON that follows this schema.
    Schema(&'b Json<'b>),
}

/// Reads `tools`, `tool_choice` and `parallel_tool_calls`.
pub(in super::super) fn read_tools<'b>(draft: &'b Draft<'b>) -> Result<Tools<'b>, Refusal> {
    let mut list = match draft.given("tools") {
        None => Vec::new(),
        Some(Json::List(items)) => items
            .iter()
            .enumerate()
            .map(read_tool)
            .collect::<Result<_, _>>()?,
        Some(_) => return Err(Refusal::kind("tools", "this must be a list")),
    };
    let choice = read_choice(draft, &mut list)?;
    let one_at_a_time = draft.given("parallel_tool_calls").and_then(Json::as_bool) == Some(false);
    Ok(Tools {
        list,
        choice,
        one_at_a_time,
    })
}

/// Reads `response_format`.
pub(in super::super) fn read_answer_form<'b>(
    draft: &'b Draft<'b>,
) -> Result<AnswerForm<'b>, Refusal> {
    let Some(format) = draft.given("response_format") else {
        return Ok(AnswerForm::Text);
    };
    match format.text_of("type") {
        Some("text") => Ok(AnswerForm::Text),
        Some("json_object") => Ok(AnswerForm::AnyObject),
        Some("json_schema") => {
            let place = "response_format.json_schema";
            let described = format
                .given("json_schema")
                .ok_or_else(|| Refusal::missing(place))?;
            match described.given("schema") {
                None => Ok(AnswerForm::AnyObject),
                Some(schema) if schema.is_object() => Ok(AnswerForm::Schema(schema)),
                Some(_) => Err(Refusal::kind(
                    format!("{place}.schema"),
                    "this must be an object",
                )),
            }
        }
        Some(_) => Err(Refusal::value(
            "response_format.type",
            "this form of answer cannot be asked of this provider",
        )),
        None => Err(Refusal::missing("response_format.type")),
    }
}

fn read_tool<'b>((position, tool): (usize, &'b Json<'b>)) -> Result<Tool<'b>, Refusal> {
    let place = |field: &str| format!("tools[{position}].{field}");
    match tool.text_of("type") {
        Some("function") => {}
        Some(_) => {
            return Err(Refusal::value(
                place("type"),
                "only functions can be offered to this provider",
            ));
        }
        None => return Err(Refusal::missing(place("type"))),
    }
    let function = tool
        .given("function")
        .ok_or_else(|| Refusal::missing(place("function")))?;
    let name = function
        .text_of("name")
        .ok_or_else(|| Refusal::missing(place("function.name")))?;
    let parameters = function.given("parameters");
    if parameters.is_some_and(|schema| !schema.is_object()) {
        return Err(Refusal::kind(
            place("function.parameters"),
            "this must be an object",
        ));
    }
    Ok(Tool {
        position,
        name,
        description: function.text_of("description"),
        parameters,
        strict: function
            .get("strict")
            .and_then(Json::as_bool)
            .unwrap_or(false),
    })
}

fn read_choice<'b>(
    draft: &'b Draft<'b>,
    list: &mut Vec<Tool<'b>>,
) -> Result<Option<Choice<'b>>, Refusal> {
    let Some(value) = draft.given("tool_choice") else {
        return Ok(None);
    };
    let unknown = || {
        Refusal::value(
            "tool_choice",
            "this is not a choice among the tools of this request",
        )
    };
    let choice = match (value.as_text(), value.text_of("type")) {
        (Some("auto"), _) => Choice::Auto,
        (Some("none"), _) => Choice::Nothing,
        (Some("required"), _) => Choice::Required,
        (_, Some("function")) => {
            let name = value
                .get("function")
                .and_then(|function| function.text_of("name"))
                .ok_or_else(unknown)?;
            list.iter()
                .find(|tool| tool.name == name)
                .ok_or_else(unknown)?;
            Choice::Named(name)
        }
        (_, Some("allowed_tools")) => read_allowed(value, list).ok_or_else(unknown)?,
        _ => return Err(unknown()),
    };
    match (list.is_empty(), choice) {
        (true, Choice::Required | Choice::Named(_)) => Err(unknown()),
        (true, Choice::Auto | Choice::Nothing) => Ok(None),
        (false, _) => Ok(Some(choice)),
    }
}

/// Reads `allowed_tools`, and removes every other tool from the list.
fn read_allowed<'b>(value: &'b Json<'b>, list: &mut Vec<Tool<'b>>) -> Option<Choice<'b>> {
    let allowed = value.given("allowed_tools")?;
    let names: Vec<&str> = allowed
        .get("tools")?
        .items()
        .iter()
        .filter_map(|tool| tool.get("function")?.text_of("name"))
        .collect();
    list.retain(|tool| names.contains(&tool.name));
    match allowed.text_of("mode")? {
        "auto" => Some(Choice::Auto),
        "required" => Some(Choice::Required),
        _ => None,
    }
}

/// The input schema of a tool, with the type `object` spelled out for providers that require it.
pub(in super::super) fn object_schema<'b>(schema: Option<&'b Json<'b>>) -> Json<'b> {
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

/// A schema that every object satisfies.
pub(in super::super) fn open_object() -> Json<'static> {
    Json::object([
        ("type", Json::text("object")),
        ("additionalProperties", true.into()),
    ])
}
