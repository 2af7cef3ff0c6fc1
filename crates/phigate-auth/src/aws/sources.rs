//! Credentials of the machine: from its variables, web identity, container or instance.
//!
//! The order is that of AWS's own tools.

use std::time::Duration;

use serde::Deserialize;

use super::Keys;
use crate::error::{AuthError, Reason};
use crate::fetch::{Answer, Ask, Fetch, Method, Place};
use crate::lease::Leased;
use crate::machine::Machine;
use crate::secret::Secret;
use crate::token::clock_skew;

/// Lifetime of credentials without an expiry.
const LOOK_AGAIN: Duration = Duration::from_secs(3600);

/// Credentials of the machine's identity.
pub(crate) async fn by_machine(
    fetch: &dyn Fetch,
    machine: &Machine,
    region: &str,
    token_url: Option<&str>,
) -> Result<Leased<Keys>, AuthError> {
    if let Some(leased) = from_variables(machine) {
        return Ok(leased);
    }
    if machine.variable("AWS_WEB_IDENTITY_TOKEN_FILE").is_some() {
        return for_web_identity(fetch, machine, region, token_url).await;
    }
    if let Some(ask) = container_request(machine)? {
        return read_document(&fetch.fetch(ask).await?);
    }
    from_instance(fetch, machine).await
}

fn no_identity() -> AuthError {
    AuthError::Refused(Reason::NoIdentity)
}

fn from_variables(machine: &Machine) -> Option<Leased<Keys>> {
    let id = machine.variable("AWS_ACCESS_KEY_ID")?;
    let key = Secret::from(machine.variable("AWS_SECRET_ACCESS_KEY")?);
    let token = machine.variable("AWS_SESSION_TOKEN").map(Secret::from);
    Some(Leased {
        value: Keys::new(id.to_owned(), key, token),
        lifetime: LOOK_AGAIN,
    })
}

/// AssumeRoleWithWebIdentity: exchanges a token from the cluster for credentials of a role.
async fn for_web_identity(
    fetch: &dyn Fetch,
    machine: &Machine,
    region: &str,
    token_url: Option<&str>,
) -> Result<Leased<Keys>, AuthError> {
    let role = machine.variable("AWS_ROLE_ARN").ok_or_else(no_identity)?;
    let token = machine
        .file("AWS_WEB_IDENTITY_TOKEN_FILE")
        .ok_or_else(no_identity)?;
    let session = machine
        .variable("AWS_ROLE_SESSION_NAME")
        .unwrap_or("phigate");
    let fields = [
        ("Action", "AssumeRoleWithWebIdentity"),
        ("Version", "2011-06-15"),
        ("RoleArn", role),
        ("RoleSessionName", session),
        ("WebIdentityToken", token.expose()),
    ];
    let endpoint = token_url.or_else(|| machine.variable("AWS_ENDPOINT_URL_STS"));
    let endpoint = endpoint.map_or_else(|| sts_of(region), str::to_owned);
    let answer = fetch.fetch(Ask::form(endpoint, &fields)).await?;
    check_status(&answer)?;
    read_xml(&answer.body)
}

/// Address of a region's token service.
fn sts_of(region: &str) -> String {
    let ending = if region.starts_with("cn-") {
        "amazonaws.com.cn"
    } else {
        "amazonaws.com"
    };
    format!("https://sts.{region}.{ending}/")
}

/// Request for a container's credentials; `None` if it has no endpoint for them.
fn container_request(machine: &Machine) -> Result<Option<Ask>, AuthError> {
    let full = machine.variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
    let relative = machine.variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    let url = match (relative, full) {
        (Some(path), _) => format!("http://169.254.170.2{path}"),
        (None, Some(url)) => url.to_owned(),
        (None, None) => return Ok(None),
    };
    let has_file = machine
        .variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")
        .is_some();
    let token = if has_file {
        let token = machine.file("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
        Some(token.ok_or_else(no_identity)?)
    } else {
        machine
            .variable("AWS_CONTAINER_AUTHORIZATION_TOKEN")
            .map(Secret::from)
    };
    let ask = Ask::get(Place::Machine, url);
    Ok(Some(match token {
        Some(token) => ask.with("authorization", token),
        None => ask,
    }))
}

/// Instance metadata, version 2: first a session, then the role's name, then its credentials.
async fn from_instance(fetch: &dyn Fetch, machine: &Machine) -> Result<Leased<Keys>, AuthError> {
    let is_off = machine
        .variable("AWS_EC2_METADATA_DISABLED")
        .is_some_and(|value| value.eq_ignore_ascii_case("true"));
    if is_off {
        return Err(no_identity());
    }
    let endpoint = machine
        .variable("AWS_EC2_METADATA_SERVICE_ENDPOINT")
        .unwrap_or("http://169.254.169.254")
        .trim_end_matches('/');
    let session = Ask {
        method: Method::Put,
        ..Ask::get(Place::Machine, format!("{endpoint}/latest/api/token"))
    };
    let session = session.with("x-aws-ec2-metadata-token-ttl-seconds", "21600");
    let session = text_of(&fetch.fetch(session).await?)?;
    let list = format!("{endpoint}/latest/meta-data/iam/security-credentials/");
    let ask = |url: String| {
        Ask::get(Place::Machine, url).with("x-aws-ec2-metadata-token", session.clone())
    };
    let role = text_of(&fetch.fetch(ask(list.clone())).await?)?;
    let role = role.expose().lines().next().unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+=,.@_-".contains(&byte);
    if role.is_empty() || !role.bytes().all(is_plain) {
        return Err(AuthError::Unreadable);
    }
    read_document(&fetch.fetch(ask(format!("{list}{role}"))).await?)
}

/// Reads a short text of the metadata service.
fn text_of(answer: &Answer) -> Result<Secret, AuthError> {
    check_status(answer)?;
    let text = std::str::from_utf8(&answer.body).map_err(|_| AuthError::Unreadable)?;
    let text = text.trim();
    let is_plain = text
        .bytes()
        .all(|byte| byte.is_ascii_graphic() || byte == b'\n');
    if text.is_empty() || text.len() > 1024 || !is_plain {
        return Err(AuthError::Unreadable);
    }
    Ok(Secret::from(text))
}

fn check_status(answer: &Answer) -> Result<(), AuthError> {
    match answer.status {
        200 => Ok(()),
        status if AuthError::of_busy(status).is_some() => Err(AuthError::Unreachable),
        400..=499 => Err(AuthError::Refused(reason(answer))),
        _ => Err(AuthError::Unreadable),
    }
}

/// Maps AWS's error code to a reason.
fn reason(answer: &Answer) -> Reason {
    let said = String::from_utf8_lossy(&answer.body);
    if said.contains("ExpiredToken") || said.contains("InvalidIdentityToken") {
        return clock_skew(answer).map_or(Reason::NotTrusted, Reason::Clock);
    }
    if said.contains("AccessDenied") || said.contains("IDPRejectedClaim") {
        return Reason::NotTrusted;
    }
    if answer.status == 404 {
        return Reason::NoIdentity;
    }
    Reason::Other
}

/// Credentials in the format of the metadata services.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Wire {
    access_key_id: String,
    secret_access_key: Secret,
    #[serde(default)]
    token: Option<Secret>,
    #[serde(default)]
    expiration: Option<String>,
}

fn read_document(answer: &Answer) -> Result<Leased<Keys>, AuthError> {
    check_status(answer)?;
    let wire: Wire = serde_json::from_slice(&answer.body).map_err(|_| AuthError::Unreadable)?;
    leased(wire)
}

/// Credentials in the answer of the token service, which is XML: four elements with plain text.
fn read_xml(body: &[u8]) -> Result<Leased<Keys>, AuthError> {
    let text = std::str::from_utf8(body).map_err(|_| AuthError::Unreadable)?;
    let element = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        let (inner, _) = rest.split_once(&format!("</{name}>"))?;
        let plain = inner
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&apos;", "'")
            .replace("&amp;", "&");
        Some(plain.trim().to_owned())
    };
    let wire = Wire {
        access_key_id: element("AccessKeyId").ok_or(AuthError::Unreadable)?,
        secret_access_key: element("SecretAccessKey")
            .map(Secret::new)
            .ok_or(AuthError::Unreadable)?,
        token: element("SessionToken").map(Secret::new),
        expiration: element("Expiration"),
    };
    leased(wire)
}

fn leased(wire: Wire) -> Result<Leased<Keys>, AuthError> {
    let is_plain = |text: &str| !text.is_empty() && crate::secret::is_visible(text);
    let token_is_fine = wire
        .token
        .as_ref()
        .is_none_or(|token| is_plain(token.expose()));
    if !is_plain(&wire.access_key_id)
        || !is_plain(wire.secret_access_key.expose())
        || !token_is_fine
    {
        return Err(AuthError::Unreadable);
    }
    let lifetime = match wire.expiration.as_deref() {
        None => LOOK_AGAIN,
        Some(text) => {
            let ends: jiff::Timestamp = text.parse().map_err(|_| AuthError::Unreadable)?;
            let left = ends.duration_since(jiff::Timestamp::now());
            Duration::try_from(left).map_err(|_| AuthError::Unreadable)?
        }
    };
    Ok(Leased {
        value: Keys::new(wire.access_key_id, wire.secret_access_key, wire.token),
        lifetime,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_services_xml_is_read() {
        let xml = "<R><Credentials><AccessKeyId>ASIA1</AccessKeyId><SecretAccessKey>a&amp;b/+</SecretAccessKey>\
                   <SessionToken>tok==</SessionToken><Expiration>2999-01-01T00:00:00Z</Expiration></Credentials></R>";
        let leased = read_xml(xml.as_bytes()).expect("it is what the service writes");
        let read = leased.value;
        assert!(read.are("ASIA1", "a&b/+", Some("tok==")));
        assert!(read_xml(b"<R></R>").is_err());
        assert!(!format!("{read:?}").contains("a&b"));
    }

    #[test]
    fn expired_credentials_are_refused() {
        let answer = |expiration: &str| {
            Answer {
            status: 200,
            date: None,
            body: format!(r#"{{"AccessKeyId":"A","SecretAccessKey":"B","Token":"C","Expiration":"{expiration}"}}"#)
                .into_bytes(),
        }
        };
        assert!(read_document(&answer("2999-01-01T00:00:00Z")).is_ok());
        assert_eq!(
            read_document(&answer("2001-01-01T00:00:00Z")).err(),
            Some(AuthError::Unreadable)
        );
        assert_eq!(
            read_document(&answer("soon")).err(),
            Some(AuthError::Unreadable)
        );
    }

    #[test]
    fn regions_have_their_token_service() {
        assert_eq!(
            sts_of("eu-central-1"),
            "https://sts.eu-central-1.amazonaws.com/"
        );
        assert_eq!(
            sts_of("cn-north-1"),
            "https://sts.cn-north-1.amazonaws.com.cn/"
        );
    }
}
