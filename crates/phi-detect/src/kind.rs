//! The kinds of PHI, as rows of one table.

/// A kind of PHI: a row of the table, cheap to copy, ordered as the table is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhiKind(u8);

struct Row {
    code: &'static str,
    label: &'static str,
    placeholder: &'static str,
}

static ROWS: &[Row] = &[
    // In the order in which lists of types are written.
    Row {
        code: "ssn",
        label: "SSN",
        placeholder: "[SSN]",
    },
    Row {
        code: "dob",
        label: "Date of birth",
        placeholder: "[DOB]",
    },
    Row {
        code: "phone",
        label: "Phone",
        placeholder: "[PHONE]",
    },
    Row {
        code: "email",
        label: "Email",
        placeholder: "[EMAIL]",
    },
    Row {
        code: "address",
        label: "Address",
        placeholder: "[ADDRESS]",
    },
    Row {
        code: "mrn",
        label: "MRN",
        placeholder: "[MRN]",
    },
    Row {
        code: "name",
        label: "Name",
        placeholder: "[NAME]",
    },
    Row {
        code: "medicare_id",
        label: "Medicare ID",
        placeholder: "[MEDICARE_ID]",
    },
];

impl PhiKind {
    /// Every kind, in table order.
    pub fn all() -> impl Iterator<Item = PhiKind> {
        (0..ROWS.len() as u8).map(PhiKind)
    }

    /// The kind with this code, if there is one.
    pub fn from_code(code: &str) -> Option<PhiKind> {
        PhiKind::all().find(|kind| kind.code() == code)
    }

    /// The code used in headers, errors, the audit trail and the command line.
    pub fn code(self) -> &'static str {
        ROWS[usize::from(self.0)].code
    }

    /// The name people read.
    pub fn label(self) -> &'static str {
        ROWS[usize::from(self.0)].label
    }

    /// What mask mode writes in place of a finding.
    pub fn placeholder(self) -> &'static str {
        ROWS[usize::from(self.0)].placeholder
    }
}

impl std::fmt::Debug for PhiKind {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.code())
    }
}
