//! A request in translation: parameters still to map, and the names of those adjusted or dropped.

use super::super::parameters::{Parameter, Treatment};
use super::super::request::{Call, Refusal};
use crate::json::Json;
use std::cell::RefCell;

/// A caller's request, with its adjusted and dropped parameters up to now.
pub(in super::super) struct Draft<'a> {
    body: Json<'a>,
    parameters: &'static [Parameter],
    adjusted: RefCell<Vec<String>>,
    dropped: RefCell<Vec<String>>,
}

impl<'a> Draft<'a> {
    /// Reads the request and treats the parameters that the table drops or refuses.
    pub(in super::super) fn open(
        call: &Call<'a>,
        parameters: &'static [Parameter],
    ) -> Result<Self, Refusal> {
        let draft = Self {
            body: Json::of(&call.document.root()),
            parameters,
            adjusted: RefCell::default(),
            dropped: RefCell::default(),
        };
        for (position, (name, value)) in draft.body.members().iter().enumerate() {
            let Some(parameter) = parameters.iter().find(|row| row.name == name) else {
                draft.drop_parameter(&safe_name(position, name));
                continue;
            };
            if parameter.is_neutral(value) {
                continue;
            }
            match parameter.treatment {
                Treatment::Forwarded | Treatment::Mapped | Treatment::MappedOrNamed => {}
                Treatment::Dropped => draft.drop_parameter(parameter.name),
                Treatment::Refused => return Err(Refusal::value(parameter.name, parameter.note)),
            }
        }
        Ok(draft)
    }

    /// The whole request.
    pub(in super::super) fn body(&self) -> &Json<'a> {
        &self.body
    }

    /// A parameter, unless it is absent or neutral.
    pub(in super::super) fn given(&self, name: &str) -> Option<&Json<'a>> {
        let parameter = self.parameters.iter().find(|row| row.name == name)?;
        self.body
            .get(name)
            .filter(|value| !parameter.is_neutral(value))
    }

    /// A parameter that must be a number.
    pub(in super::super) fn number(&self, name: &str) -> Result<Option<(&Json<'a>, f64)>, Refusal> {
        let Some(value) = self.given(name) else {
            return Ok(None);
        };
        let number = value
            .as_f64()
            .ok_or_else(|| Refusal::kind(name, "this must be a number"))?;
        Ok(Some((value, number)))
    }

    /// A parameter that must be a count.
    pub(in super::super) fn count(&self, name: &str) -> Result<Option<u64>, Refusal> {
        let Some(value) = self.given(name) else {
            return Ok(None);
        };
        value
            .as_u64()
            .map(Some)
            .ok_or_else(|| Refusal::kind(name, "this must be a whole number"))
    }

    /// A parameter that must be text.
    pub(in super::super) fn text(&self, name: &str) -> Result<Option<&str>, Refusal> {
        let Some(value) = self.given(name) else {
            return Ok(None);
        };
        value
            .as_text()
            .map(Some)
            .ok_or_else(|| Refusal::kind(name, "this must be a string"))
    }

    /// Notes that a value was adjusted.
    pub(in super::super) fn adjust(&self, name: &str) {
        note(&self.adjusted, name);
    }

    /// Notes that a parameter was dropped.
    pub(in super::super) fn drop_parameter(&self, name: &str) {
        note(&self.dropped, name);
    }

    /// The names of adjusted and of dropped parameters.
    pub(in super::super) fn into_names(self) -> (Vec<String>, Vec<String>) {
        let dropped = self.dropped.into_inner();
        let mut adjusted = self.adjusted.into_inner();
        adjusted.retain(|name| !dropped.contains(name));
        (adjusted, dropped)
    }
}

/// Returns `stop` as a list: it may be one string or several.
pub(in super::super) fn stop_sequences<'b>(draft: &'b Draft<'_>) -> Result<Vec<&'b str>, Refusal> {
    match draft.given("stop") {
        None => Ok(Vec::new()),
        Some(Json::Text(text)) => Ok(vec![text]),
        Some(Json::List(items)) => {
            let text_of = |(position, item): (usize, &'b Json<'_>)| {
                item.as_text().ok_or_else(|| {
                    Refusal::kind(format!("stop[{position}]"), "this must be a string")
                })
            };
            items.iter().enumerate().map(text_of).collect()
        }
        Some(_) => Err(Refusal::kind(
            "stop",
            "this must be a string or a list of strings",
        )),
    }
}

/// The limit of generated tokens; the newer parameter wins.
pub(in super::super) fn max_tokens(draft: &Draft<'_>) -> Result<Option<u64>, Refusal> {
    for name in ["max_completion_tokens", "max_tokens"] {
        match draft.count(name)? {
            Some(0) => return Err(Refusal::value(name, "this must be at least 1")),
            Some(count) => return Ok(Some(count)),
            None => {}
        }
    }
    Ok(None)
}

/// Whether the caller wants a usage chunk. The other stream options have no meaning in translation.
pub(in super::super) fn include_usage(draft: &Draft<'_>) -> Result<bool, Refusal> {
    let Some(options) = draft.given("stream_options") else {
        return Ok(false);
    };
    if !options.is_object() {
        return Err(Refusal::kind("stream_options", "this must be an object"));
    }
    let has_other = options.members().iter().any(|(name, value)| {
        name != "include_usage" && !matches!(value, Json::Null | Json::Bool(false))
    });
    if has_other {
        draft.adjust("stream_options");
    }
    Ok(options
        .get("include_usage")
        .and_then(Json::as_bool)
        .unwrap_or(false))
}

fn note(names: &RefCell<Vec<String>>, name: &str) {
    let mut names = names.borrow_mut();
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}

/// A name that is safe in a header: a plain word, or else its position.
fn safe_name(position: usize, name: &str) -> String {
    let is_plain = (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    if is_plain {
        name.to_owned()
    } else {
        format!("{{{position}}}")
    }
}
