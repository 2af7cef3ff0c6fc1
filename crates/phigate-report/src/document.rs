//! A report before it is written: the question, the answer and its limits, independent of the format.

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::times::to_the_second;
use crate::{Ask, Identifier, Order, ReportError, ReportKind, Sources, complete};

/// A report before it is written.
pub(crate) struct Document {
    pub(crate) kind: ReportKind,
    pub(crate) account: String,
    /// Lines of the letterhead, which the account's owner sets.
    pub(crate) letterhead: Vec<String>,
    pub(crate) made: Timestamp,
    pub(crate) made_by: String,
    pub(crate) reference: Option<String>,
    /// The question: code, label, words.
    pub(crate) asked: Vec<(&'static str, &'static str, String)>,
    /// Limits of the answer, each a sentence.
    pub(crate) complete: Vec<String>,
    /// Figures at the top.
    pub(crate) facts: Vec<Fact>,
    pub(crate) sections: Vec<Section>,
}

/// One figure at the top of a report.
pub(crate) struct Fact {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) value: Value,
}

/// A table of a report.
pub(crate) struct Section {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// Words for an empty table.
    pub(crate) empty: &'static str,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
    /// Whether the first column is the key of each row.
    pub(crate) is_map: bool,
}

/// A column: name in JSON and CSV, label on the page.
#[derive(Clone, Copy)]
pub(crate) struct Column(pub(crate) &'static str, pub(crate) &'static str);

/// A row of a table.
pub(crate) struct Row {
    /// Words for the first cell on the page, if it is a code.
    pub(crate) words: Option<String>,
    pub(crate) cells: Vec<Value>,
}

impl Section {
    /// A table whose rows are listed.
    pub(crate) fn list(
        name: &'static str,
        title: &'static str,
        empty: &'static str,
        columns: &[Column],
    ) -> Self {
        Self {
            name,
            title,
            empty,
            columns: columns.to_vec(),
            rows: Vec::new(),
            is_map: false,
        }
    }

    /// A table whose rows are known by their first cell.
    pub(crate) fn map(
        name: &'static str,
        title: &'static str,
        empty: &'static str,
        columns: &[Column],
    ) -> Self {
        Self {
            is_map: true,
            ..Self::list(name, title, empty, columns)
        }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, words: Option<String>, cells: Vec<Value>) {
        self.rows.push(Row { words, cells });
    }

    /// The table as JSON: an object by the first cell, or an array.
    pub(crate) fn json(&self) -> Value {
        let object = |cells: &[Value], columns: &[Column]| -> Map<String, Value> {
            let cells = columns.iter().zip(cells);
            cells
                .map(|(column, cell)| (column.0.to_owned(), cell.clone()))
                .collect()
        };
        if !self.is_map {
            let rows = self.rows.iter();
            return rows.map(|row| object(&row.cells, &self.columns)).collect();
        }
        let entry = |row: &Row| {
            let key = row.cells.first().map_or(String::new(), written);
            let value = match &row.cells[1..] {
                [only] => only.clone(),
                more => object(more, &self.columns[1..]).into(),
            };
            (key, value)
        };
        Value::Object(self.rows.iter().map(entry).collect())
    }
}

/// A value as text.
pub(crate) fn written(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(written).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

impl Document {
    /// A report with its question and the general limits of an answer.
    pub(crate) async fn begin(
        sources: &Sources,
        order: &Order<'_>,
        ask: &Ask,
    ) -> Result<Self, ReportError> {
        let settings = sources.accounts.settings(&order.account.id).await?;
        let letterhead = settings.letterhead.split([';', '\n']).map(str::trim);
        let letterhead = letterhead.filter(|line| !line.is_empty());
        let letterhead = letterhead.map(str::to_owned).collect();
        Ok(Self {
            kind: ask.kind(),
            account: order.account.name.clone(),
            letterhead,
            made: order.now,
            made_by: order.actor.to_owned(),
            reference: order.reference.map(str::to_owned),
            asked: asked(ask),
            complete: complete::limits(sources, order, ask, &settings.retention).await?,
            facts: Vec::new(),
            sections: Vec::new(),
        })
    }

    /// Adds a figure.
    pub(crate) fn fact(
        &mut self,
        name: &'static str,
        label: &'static str,
        value: impl Into<Value>,
    ) {
        let value = value.into();
        self.facts.push(Fact { name, label, value });
    }
}

/// The question in words.
fn asked(ask: &Ask) -> Vec<(&'static str, &'static str, String)> {
    match ask {
        Ask::Disclosures(identifier) => asked_identifier(identifier),
        Ask::Incident {
            since,
            until,
            provider,
            key,
        } => {
            let all = |name: &Option<String>, words: &str| name.clone().unwrap_or(words.to_owned());
            vec![
                ("since", "From", to_the_second(*since)),
                ("until", "Until, exclusive", to_the_second(*until)),
                ("provider", "Provider", all(provider, "all")),
                ("key", "API key", all(key, "all")),
            ]
        }
        Ask::Monthly { month } => {
            vec![("month", "Month (UTC)", month.strftime("%Y-%m").to_string())]
        }
        Ask::Controls => vec![("about", "About", "the settings in force now".to_owned())],
    }
}

fn asked_identifier(identifier: &Identifier) -> Vec<(&'static str, &'static str, String)> {
    let asked = format!("{} {}", identifier.label(), identifier.hint);
    let questions = &identifier.questions;
    let ways = questions.first().map_or("", |one| one.ways());
    let mut lines = vec![
        ("identifier", "Identifier", asked),
        ("tried", "Spellings tried", ways.to_owned()),
    ];
    let others = questions.iter().skip(1).map(|one| one.kind().label());
    let others: Vec<&str> = others.collect();
    if !others.is_empty() {
        lines.push(("also_as", "Also tried as", others.join(", ")));
    }
    lines
}
