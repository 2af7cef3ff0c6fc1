//! Files that are scanned: text as it is, and documents as their text.

use std::io::Read;
use std::path::Path;

use anyhow::Context;
use phi_detect::{CodePoints, Detector, Findings};
use phigate_core::protect::{self, Places};
use phigate_gateway::documents::Readers;
use phigate_types::{DocumentText, NoText, Passage, Place, Unread};

/// The most bytes of a document; longer text is scanned as it is.
const DOCUMENT: usize = 25 << 20;

/// Reason why a file has no text to scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unreadable {
    /// The document cannot be read.
    #[error("{0}")]
    Document(NoText),
    /// A document must be smaller, and text must be UTF-8.
    #[error("it is not UTF-8 text, and is too large for a document")]
    TooLarge,
}

impl Unreadable {
    /// Whether the file is neither text nor a document, such as a program.
    pub(super) fn is_other(self) -> bool {
        self == Self::Document(NoText::Unread(Unread::UnknownType))
    }
}

/// Text of a file.
pub(super) struct Source {
    /// Passages, each of which is scanned by itself.
    pub(super) passages: Vec<Passage>,
    /// The document that it is the text of.
    document: Option<DocumentText>,
}

/// Code points of a finding, and its place in a document.
pub(super) struct Position {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) path: Option<String>,
}

impl Source {
    /// Whether the text is that of a document.
    pub(super) fn is_document(&self) -> bool {
        self.document.is_some()
    }

    /// Returns the positions of findings, which are in order. Those in documents count from the beginning of their place.
    pub(super) fn positions(
        &self,
        detector: &Detector,
        passage: &Passage,
        findings: &Findings,
    ) -> Vec<Position> {
        let Some(document) = &self.document else {
            return positions(&passage.text, findings);
        };
        let is_clean = |name: &str| detector.scan(name).is_empty();
        let spans = findings.iter().map(|finding| finding.span.clone());
        let positions = Places::new(document, &is_clean).positions(passage, spans);
        let position = |position: protect::Position| Position {
            start: position.start,
            end: position.end,
            path: Some(position.path).filter(|path| !path.is_empty()),
        };
        positions.into_iter().map(position).collect()
    }
}

/// Returns the positions of findings in a text, counted in one pass.
pub(super) fn positions(text: &str, findings: &Findings) -> Vec<Position> {
    let mut points = CodePoints::new(text);
    let position = |finding: &phi_detect::Finding| Position {
        start: points.at(finding.span.start),
        end: points.at(finding.span.end),
        path: None,
    };
    findings.iter().map(position).collect()
}

/// Reads a file or standard input, and the text of a document there.
pub(super) fn read(file: Option<&Path>) -> anyhow::Result<Source> {
    let name = file.map_or("standard input".into(), |path| path.display().to_string());
    let mut bytes = Vec::new();
    match file {
        None => std::io::stdin().lock().read_to_end(&mut bytes),
        Some(path) => std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)),
    }
    .with_context(|| format!("cannot read {name}"))?;
    let plain = |text: String| Source {
        passages: vec![Passage::at(Place::Whole, text)],
        document: None,
    };
    if bytes.len() > DOCUMENT || phigate_extract::is_plain(&bytes) {
        return match String::from_utf8(bytes) {
            Ok(text) => Ok(plain(text)),
            Err(_) => Err(unreadable(&name, Unreadable::TooLarge)),
        };
    }
    // Text that is piped in may begin like a mail or a page without being one.
    let text = file
        .is_none()
        .then(|| String::from_utf8(bytes.clone()).ok());
    let document = match (Readers::of_this_program(1).read(bytes), text.flatten()) {
        (Err(NoText::Unread(Unread::Damaged)), Some(text)) => return Ok(plain(text)),
        (document, _) => document,
    };
    let document = document.map_err(|reason| unreadable(&name, Unreadable::Document(reason)))?;
    Ok(Source {
        passages: document.passages.clone(),
        document: Some(document),
    })
}

fn unreadable(name: &str, reason: Unreadable) -> anyhow::Error {
    anyhow::Error::new(reason).context(format!("{name} cannot be scanned"))
}
