//! The kinds of reports.

/// Kind of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportKind {
    /// Requests that held an identifier of one patient.
    Disclosures,
    /// Requests of a stretch of time, perhaps of one provider or key.
    Incident,
    /// Figures of one month.
    Monthly,
    /// Safeguards that are in force.
    Controls,
}

const ROWS: &[(ReportKind, &str, &str)] = &[
    // Kind, code, title.
    (
        ReportKind::Disclosures,
        "disclosures",
        "Disclosures of one patient",
    ),
    (ReportKind::Incident, "incident", "Scope of an incident"),
    (ReportKind::Monthly, "monthly", "Monthly report"),
    (ReportKind::Controls, "controls", "Controls in force"),
];

impl ReportKind {
    /// Every kind.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        ROWS.iter().map(|row| row.0)
    }

    /// Code on the command line and in records.
    pub fn code(self) -> &'static str {
        ROWS[self as usize].1
    }

    /// Title of the report.
    pub fn title(self) -> &'static str {
        ROWS[self as usize].2
    }
}
