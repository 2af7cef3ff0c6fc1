//! The formats of a report. Each ends with the signature over everything before it.

mod csv;
mod html;
mod json;

use phigate_store::ReportFrame;

use crate::document::Document;
use crate::{ReportError, Sources};

/// Format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportFormat {
    /// A page to print.
    Html,
    /// An object for programs.
    Json,
    /// Tables for spreadsheets.
    Csv,
}

/// Writes a report up to its signature.
type Write = fn(&Document, &str) -> Result<String, ReportError>;

struct Row {
    format: ReportFormat,
    code: &'static str,
    media_type: &'static str,
    frame: ReportFrame,
    write: Write,
}

const ROWS: &[Row] = &[
    // The first is the default.
    Row {
        format: ReportFormat::Html,
        code: "html",
        media_type: "text/html; charset=utf-8",
        frame: ReportFrame::HTML,
        write: html::write,
    },
    Row {
        format: ReportFormat::Json,
        code: "json",
        media_type: "application/json",
        frame: ReportFrame::JSON,
        write: json::write,
    },
    Row {
        format: ReportFormat::Csv,
        code: "csv",
        media_type: "text/csv; charset=utf-8",
        frame: ReportFrame::CSV,
        write: csv::write,
    },
];

impl ReportFormat {
    /// Every format, the default first.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        ROWS.iter().map(|row| row.format)
    }

    /// Code on the command line and in records, and the ending of file names.
    pub fn code(self) -> &'static str {
        ROWS[self as usize].code
    }

    /// Media type of the file.
    pub fn media_type(self) -> &'static str {
        ROWS[self as usize].media_type
    }

    /// Writes a report and signs it.
    pub(crate) fn write(
        self,
        document: &Document,
        sources: &Sources,
    ) -> Result<String, ReportError> {
        let Row { frame, write, .. } = &ROWS[self as usize];
        let mut text = write(document, &sources.trail.public_key())?;
        text.push_str(frame.before);
        let signature = sources.reports.sign(&text);
        text.push_str(&signature);
        text.push_str(frame.after);
        Ok(text)
    }
}
