//! Where a value stands, in words that are safe to write down.
//!
//! Paths go into audit records, which are not sealed. A key is the caller's text and may be
//! somebody's name, so a path spells only words of the chat API and of everyday forms; every
//! other key is named by its position: `metadata.{0}`.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::json::{NodeId, Value};

/// Where a value stands: `messages[0].content`, `metadata.{0}`.
pub fn path(value: &Value<'_>) -> String {
    let mut steps = Vec::new();
    let mut at = *value;
    if at.is_key() {
        steps.push(by_position(&at));
        at = at.parent().unwrap_or(at);
    }
    while let Some(parent) = at.parent() {
        steps.push(step(&at));
        at = parent;
    }
    let joined: String = steps.into_iter().rev().collect();
    joined
        .strip_prefix('.')
        .map(str::to_owned)
        .unwrap_or(joined)
}

fn step(value: &Value<'_>) -> String {
    match value.key().and_then(|key| key.string()) {
        None => format!("[{}]", value.position()),
        Some(name) if is_known_word(&name) => format!(".{name}"),
        Some(_) => by_position(value),
    }
}

/// Whether a key is a word of the vocabulary, and so nothing that a caller made up.
pub(crate) fn is_known_word(key: &str) -> bool {
    VOCABULARY.contains(key)
}

fn by_position(value: &Value<'_>) -> String {
    format!(".{{{}}}", value.position())
}

/// The name of a top-level parameter as a response header repeats it to the caller who sent it. A name that holds
/// PHI (`withheld`, in order) or is not a plain word is given by position.
pub fn parameter_name(value: &Value<'_>, withheld: &[NodeId]) -> String {
    let key = value.key();
    let name = key.and_then(|key| key.string()).unwrap_or_default();
    let is_plain_word = (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$'));
    let is_withheld = key.is_some_and(|key| withheld.binary_search(&key.id()).is_ok());
    if is_plain_word && !is_withheld {
        name.into_owned()
    } else {
        format!("{{{}}}", value.position())
    }
}

/// Fields of the chat APIs.
const API_WORDS: &str = "\
    action allowed_tools annotations approximate args arguments attachments audio best_of budget_tokens \
    cache_control call_id chat_template_kwargs citations city container content contents \
    context_management conversation country custom data definition detail document documents echo \
    encrypted_content extra_body extra_content file fileData fileUri file_data file_id file_ids filename \
    files format frequency_penalty function functionCall functionDeclarations functionResponse \
    function_call functions generationConfig google grammar id image image_file image_url images include \
    include_obfuscation include_usage inlineData inline_data input input_audio input_file input_image \
    instructions is_error json json_schema logit_bias logprobs max_completion_tokens max_output_tokens \
    max_tokens mcp_servers media_type messages metadata mimeType mime_type min_p modalities mode model n \
    name output parallel_tool_calls parameters parts prediction presence_penalty previous_response_id \
    prompt prompt_cache_key prompt_cache_retention reasoning reasoning_effort refusal region \
    repetition_penalty response response_format role safetySettings safety_identifier schema \
    search_context_size seed service_tier signature source stop stop_sequences store stream \
    stream_options strict suffix summary syntax system systemInstruction temperature text texts thinking \
    thought_signature timezone toolConfig tool_call_id tool_calls tool_choice tool_result tool_use \
    tool_use_id tools top_k top_logprobs top_p type url url_citation user user_location verbosity video \
    video_url videos voice web_search_options";

/// Keywords of JSON Schema.
const SCHEMA_WORDS: &str = "\
    $comment $defs $id $ref $schema additionalProperties allOf anyOf const contains default definitions \
    dependentSchemas description else enum example examples if items maxItems maxLength maximum minItems \
    minLength minimum not nullable oneOf pattern patternProperties prefixItems properties propertyNames \
    required then title uniqueItems";

/// Labels of everyday records, which help whoever reads the trail.
const RECORD_WORDS: &str = "\
    account address answer birth_date birthdate body comment comments context date date_of_birth dob \
    email fax field fields first_name home_phone key keys label labels last_name list medicare_id \
    member_id message mobile mrn note notes number option options patient patient_id payload phone query \
    question record records result results session session_id ssn status subject tag tags telephone \
    user_id value values visit ward zip";

static VOCABULARY: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let lists = [API_WORDS, SCHEMA_WORDS, RECORD_WORDS];
    lists.iter().flat_map(|list| list.split(' ')).collect()
});
