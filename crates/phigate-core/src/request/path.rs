//! Path of a value, in words that are safe to write down.
//!
//! Paths go into audit records, which are not sealed. A key is the caller's text and may be
//! a person's name, so a path spells only words of the APIs, of everyday forms and of programs;
//! every other key is named by its position: `metadata.{0}`.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::json::{NodeId, Value};

/// Returns the path of a value (`messages[0].content`, `metadata.{0}`).
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
        Some(name) if is_known_word(&name) || phi_detect::is_ordinary_identifier(&name) => {
            format!(".{name}")
        }
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

/// Fields of the APIs.
const API_WORDS: &str = "\
    action adaptive allowed_callers allowed_tools annotations approximate args arguments attachments audio \
    authorization_token background best_of betas budget budget_tokens cache_control call_id caller \
    chat_template_kwargs citation citations cited_text city code code_execution_result container \
    container_id container_upload content content_block contents context context_management conversation \
    country custom data defer_loading definition delta detail dimensions disable_parallel_tool_use document \
    document_index document_title documents eager_input_streaming echo edits effort encoding_format \
    encrypted_content encrypted_index end_char_index environment error extra_body extra_content file \
    file_data file_id file_ids file_url fileData filename files fileUri format format_options \
    frequency_penalty function function_call functionCall functionDeclarations functionResponse functions \
    generationConfig google grammar id image image_file image_url images include include_obfuscation \
    include_usage inference inference_geo inline_data inlineData input input_audio input_examples \
    input_file input_image input_schema input_text instructions is_error item_reference json json_schema \
    keep logit_bias logprobs logs max_completion_tokens max_output_tokens max_tokens max_tool_calls \
    mcp_servers media_type message messages metadata mime_type mimeType min_p modalities mode model n name \
    namespace output output_config output_format output_text outputs page_age pages parallel_tool_calls \
    parameters parts phase prediction presence_penalty previous_response_id prompt prompt_cache_key \
    prompt_cache_retention queries query reason_code reasoning reasoning_effort redacted_thinking refusal \
    region repetition_penalty response response_format result results retrieved_at return_code role \
    safety_identifier safetySettings schema score search_context_size search_result seed server_label \
    server_name server_url service_tier signature skills source source_type speed start_char_index status \
    stderr stdout stop stop_reason stop_sequence stop_sequences store stored stream stream_options strict \
    suffix summary summary_text syntax system systemInstruction temperature text texts thinking \
    thought_signature timezone title tool tool_call_id tool_calls tool_choice tool_name tool_result \
    tool_use tool_use_id toolConfig tools top_k top_logprobs top_p truncation ttl type url url_citation \
    user user_id user_location variables vector_store_ids verbosity video video_url videos voice \
    web_search_options";

/// Keywords of JSON Schema.
const SCHEMA_WORDS: &str = "\
    $comment $defs $id $ref $schema additionalProperties allOf anyOf const contains default definitions \
    dependentSchemas description else enum example examples if items maxItems maxLength maximum minItems \
    minLength minimum not nullable oneOf pattern patternProperties prefixItems properties propertyNames \
    required then title uniqueItems";

/// Labels of everyday records, which help readers of the audit trail.
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
