//! The monthly report: figures of a month, day by day, with what people changed and looked at.

use std::collections::BTreeMap;

use jiff::civil::Date;
use phigate_store::{Filter, Record, RecordKind};
use phigate_types::Act;

use crate::count::{count, groups};
use crate::document::{Column, Document, Section};
use crate::{Ask, Order, ReportError, Sources};

/// Records per query.
const PAGE: usize = 1_000;

/// Counts the month.
pub(crate) async fn fill(
    document: &mut Document,
    sources: &Sources,
    order: &Order<'_>,
    month: Date,
) -> Result<(), ReportError> {
    let filter = Ask::Monthly { month }.filter().unwrap_or_default();
    let (trail, id) = (&sources.trail, &order.account.id);
    let counted = count(trail, id, &filter, |_, _| {}).await?;
    counted.write(document, sources, order).await?;
    let acts = Filter {
        record: Some(RecordKind::Admin),
        requests: false,
        ..filter
    };
    document.sections.push(changes(sources, id, &acts).await?);
    let day = Column("day", "Day (UTC)");
    let days = groups("by_day", "Day by day", "No request.", day, &counted.by_day);
    document.sections.push(days);
    Ok(())
}

/// Acts of people and of the system, by act.
async fn changes(sources: &Sources, id: &str, filter: &Filter) -> Result<Section, ReportError> {
    let mut acts: BTreeMap<Act, u64> = BTreeMap::new();
    let mut cursor = None;
    loop {
        let page = sources.trail.audit_list(id, filter, cursor, PAGE).await?;
        for record in page.items {
            if let Record::Admin(act) = record {
                *acts.entry(act.act).or_default() += 1;
            }
        }
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    let columns = [Column("act", "Act"), Column("times", "Times")];
    let title = "Changes, reveals and sign-ins";
    let mut section = Section::map("acts", title, "Nothing was changed.", &columns);
    for (act, count) in acts {
        let words = format!("{} ({})", act.words(), act.code());
        section.row(Some(words), vec![act.code().into(), count.into()]);
    }
    Ok(section)
}
