//! Document dropped into the playground: what is found in it, and where.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use phigate_gateway::DocumentFinding;

use crate::Dash;
use crate::view::kind_class;
use crate::visit::{PageError, SignedIn};

/// Findings that are listed.
const LISTED_MAX: usize = 500;

/// Document, scanned.
pub(crate) struct Dropped {
    /// Name of the file, as the browser says it.
    pub(crate) name: String,
    /// Number of findings, or the reason why there are none.
    pub(crate) words: String,
    pub(crate) is_read: bool,
    pub(crate) findings: Vec<Placed>,
}

/// One finding, with its text: the viewer has the document.
pub(crate) struct Placed {
    pub(crate) label: &'static str,
    pub(crate) class: &'static str,
    pub(crate) place: String,
    pub(crate) text: String,
    pub(crate) score: String,
    pub(crate) rule: &'static str,
}

/// Reads and scans the document of the form, if there is one.
pub(crate) async fn dropped(dash: &Dash, visit: &SignedIn) -> Result<Option<Dropped>, PageError> {
    let form = visit.form();
    let data = form.get("document");
    if data.is_empty() {
        return Ok(None);
    }
    let name = form.get("document_name").to_owned();
    let Ok(bytes) = URL_SAFE_NO_PAD.decode(data) else {
        return Err(PageError::Broken);
    };
    let found = dash.gateway.preview_document(&visit.account, bytes).await;
    let found = found.map_err(|error| match error.status().as_u16() {
        429 | 503 => PageError::Busy,
        _ => PageError::Broken,
    })?;
    let (words, is_read, findings) = match found {
        Ok(found) => (words(found.len()), true, found),
        Err(reason) => (format!("not read: {reason}"), false, Vec::new()),
    };
    Ok(Some(Dropped {
        name,
        words,
        is_read,
        findings: findings.into_iter().take(LISTED_MAX).map(placed).collect(),
    }))
}

fn words(count: usize) -> String {
    match count {
        0 => "nothing found".to_owned(),
        1 => "1 finding".to_owned(),
        many if many > LISTED_MAX => format!("{many} findings, the first {LISTED_MAX} listed"),
        many => format!("{many} findings"),
    }
}

fn placed(found: DocumentFinding) -> Placed {
    let DocumentFinding {
        finding,
        place,
        value,
    } = found;
    Placed {
        label: finding.kind.label(),
        class: kind_class(finding.kind),
        place: match place.strip_prefix('#') {
            Some(place) => place.to_owned(),
            None => "text".to_owned(),
        },
        text: value.into_exposed(),
        score: format!("{:.2}", finding.score),
        rule: finding.rule,
    }
}
