//! Frequent mistakes with a provider, recognised by its answer, whose text is never repeated.

use http::{HeaderMap, header};
use phigate_auth::{Reason, clock_skew_s};

/// Name of a mistake, and its remedy.
pub(super) type Words = (&'static str, String);

/// A mistake: marks of the answer in small letters, any of which shows it; its name; and the remedy.
struct Mistake {
    marks: &'static [&'static str],
    title: &'static str,
    advice: &'static str,
}

const fn row(marks: &'static [&'static str], title: &'static str, advice: &'static str) -> Mistake {
    Mistake {
        marks,
        title,
        advice,
    }
}

/// Response texts for clock skew in a signature.
const CLOCK_MARKS: &[&str] = &[
    "signature expired",
    "signature not yet current",
    "requesttimetooskewed",
];

#[rustfmt::skip]
static MISTAKES: &[Mistake] = &[
    // By cloud; within one the more particular words first.
    row(&["deploymentnotfound"], "The deployment does not exist",
        "Compare the name after the equals sign of --models with the deployments of the resource. A new deployment takes a few minutes to appear."),
    row(&["authenticationtypedisabled", "key based authentication is disabled"], "Keys are disabled for this resource",
        "Its owner allows only Entra ID: use --auth entra, or have key authentication enabled."),
    row(&["principal does not have access", "lacks the required data action", "permissiondenied"], "A role is missing",
        "Give the application the role Cognitive Services OpenAI User on the resource. It takes a few minutes to take effect."),
    row(&["unsupported api version", "api version not supported"], "The resource does not know this version of the API",
        "Use --api-version v1, or a date that Azure lists."),
    row(&["credential should be scoped to a valid region"], "The region is wrong",
        "Signatures are made for --region: it must be the region of the endpoint."),
    row(&["have access to the model", "model access is denied"], "The account has no access to the model",
        "Ask for it under Model access in the Bedrock console, in this region."),
    row(&["not authorized to perform", "no identity-based policy allows"], "A permission is missing",
        "Allow the user or role bedrock:InvokeModel and bedrock:InvokeModelWithResponseStream for the model."),
    row(&["token included in the request is expired", "expiredtoken"], "The session token has expired",
        "Temporary credentials expire: store new ones, or use the machine's own identity."),
    row(&["token included in the request is invalid", "unrecognizedclient", "access key id is not known"], "AWS does not know the access key",
        "Check access_key_id, and that the key is still active. Temporary credentials need their session_token too."),
    row(&["signature we calculated does not match", "signaturedoesnotmatch"], "The secret access key is wrong",
        "It is not the one that belongs to the access key id: copy both again."),
    row(&["on-demand throughput isn"], "The model needs an inference profile",
        "Write the profile's id or ARN after the equals sign of --models, such as us.anthropic.claude-…"),
    row(&["model identifier is invalid", "could not resolve the foundation model", "model not found in this region"], "The model is not known in this region",
        "Compare the id after the equals sign of --models with those that Bedrock lists in the region."),
    row(&["service_disabled", "has not been used in project"], "Vertex AI is not enabled in the project",
        "Enable the API aiplatform.googleapis.com for it."),
    row(&["aiplatform.endpoints.predict", "permission_denied"], "A role is missing",
        "Give the service account the role Vertex AI User in the project, and check --project."),
    row(&["publisher model"], "The model is not there",
        "It is not served in --region, or the project has no access: enable it in the Model Garden."),
    row(&["model_not_found"], "The provider does not know the model",
        "Compare the model's name with those that the provider lists, and see whether the account may use it."),
];

/// The mistake that an answer shows, if it is one of the usual.
pub(super) fn of_answer(headers: &HeaderMap, body: &[u8]) -> Option<Words> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let kind = text("x-amzn-errortype").unwrap_or_default();
    let said = format!("{kind} {}", String::from_utf8_lossy(body)).to_lowercase();
    if CLOCK_MARKS.iter().any(|mark| said.contains(mark)) {
        let skew_s = text(header::DATE.as_str()).and_then(clock_skew_s);
        return Some(clock(skew_s));
    }
    let mistake = MISTAKES
        .iter()
        .find(|mistake| mistake.marks.iter().any(|mark| said.contains(mark)))?;
    Some((mistake.title, mistake.advice.to_owned()))
}

/// Whether a refusal of the request is one of the key, as Google says it.
pub(super) fn is_bad_key(body: &[u8]) -> bool {
    String::from_utf8_lossy(body).contains("API_KEY_INVALID")
}

/// The mistake that a token endpoint names.
pub(super) fn of_reason(reason: Reason) -> Words {
    let (title, advice) = match reason {
        Reason::Clock(skew_s) => return clock(Some(skew_s)),
        Reason::ExpiredSecret => (
            "The secret has expired",
            "Make a new one where the application is registered, and store it.",
        ),
        Reason::WrongSecret => (
            "The secret is wrong",
            "It is not the one that belongs to this identity. Copy it again: its value, not its id.",
        ),
        Reason::UnknownIdentity => (
            "The identity is not known",
            "Compare --client-id, or the service account or role, with what the cloud lists.",
        ),
        Reason::UnknownTenant => (
            "The tenant is not known",
            "Compare --tenant with the directory's id in the portal.",
        ),
        Reason::NotTrusted => (
            "This machine may not take the role",
            "Let the role trust it, or give the application a federated credential that matches it.",
        ),
        Reason::Other | Reason::BadSecret | Reason::NoIdentity | Reason::NotAllowed => {
            return (
                "No token for the provider",
                format!("It seems that {reason}."),
            );
        }
    };
    (title, advice.to_owned())
}

fn clock(skew_s: Option<i64>) -> Words {
    let by = match skew_s {
        Some(skew_s) if skew_s < 0 => format!("It is {} seconds behind", -skew_s),
        Some(skew_s) => format!("It is {skew_s} seconds ahead"),
        None => "It is off by more than five minutes".to_owned(),
    };
    let title = "The clock of this machine is wrong";
    (title, format!("{by}: synchronise it with a time service."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn provider_answers_reveal_usual_mistakes() {
        for (kind, body, title) in [
            (
                "",
                r#"{"error":{"code":"DeploymentNotFound"}}"#,
                "The deployment does not exist",
            ),
            (
                "",
                r#"{"error":{"code":"AuthenticationTypeDisabled","message":"Key based authentication is disabled for this resource."}}"#,
                "Keys are disabled for this resource",
            ),
            (
                "",
                "Principal does not have access to API/Operation.",
                "A role is missing",
            ),
            (
                "InvalidSignatureException:http://x",
                "Credential should be scoped to a valid region.",
                "The region is wrong",
            ),
            (
                "AccessDeniedException",
                "You don't have access to the model with the specified model ID.",
                "The account has no access to the model",
            ),
            (
                "AccessDeniedException",
                "User: arn:aws:iam::1:user/x is not authorized to perform: bedrock:InvokeModel",
                "A permission is missing",
            ),
            (
                "ExpiredTokenException",
                "The security token included in the request is expired",
                "The session token has expired",
            ),
            (
                "UnrecognizedClientException",
                "",
                "AWS does not know the access key",
            ),
            (
                "",
                "The request signature we calculated does not match the signature you provided.",
                "The secret access key is wrong",
            ),
            (
                "",
                "Permission 'aiplatform.endpoints.predict' denied on resource",
                "A role is missing",
            ),
            (
                "",
                "Publisher Model `x` was not found or your project does not have access to it.",
                "The model is not there",
            ),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert("x-amzn-errortype", HeaderValue::from_static(kind));
            let told = of_answer(&headers, body.as_bytes()).map(|(title, _)| title);
            assert_eq!(told, Some(title), "{kind} {body}");
        }
        assert_eq!(of_answer(&HeaderMap::new(), b"something else"), None);
    }

    #[test]
    fn wrong_clock_is_reported_in_seconds() {
        let mut headers = HeaderMap::new();
        let theirs = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(1200);
        let date = theirs.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
        headers.insert(header::DATE, date.parse().unwrap());
        let (title, advice) = of_answer(
            &headers,
            b"Signature expired: 20261115T000000Z is now earlier than",
        )
        .unwrap();
        assert_eq!(title, "The clock of this machine is wrong");
        assert!(
            [
                "1199 seconds behind",
                "1200 seconds behind",
                "1201 seconds behind"
            ]
            .iter()
            .any(|by| advice.contains(by)),
            "{advice}"
        );
    }
}
