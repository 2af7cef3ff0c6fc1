//! The lines of an installation's file: rows as stored.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use phigate_verify::Checkpoint;
use phigate_verify::chain::digest_bytes;
use phigate_verify::chain::hex;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::item::{Item, ItemKind};
use crate::rows::{AuditRow, Batch, ChainRow, Contents, Link, LookupCode, LookupRow, NewRecord};
use crate::{Result, StoreError};

/// Version of the format. The first one lacked versions and keyed hashes of items.
pub(crate) const VERSION: u32 = 2;

/// One line of the file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Line {
    Phigate {
        version: u32,
    },
    Item(ItemLine),
    Entry(Box<EntryLine>),
    Counter {
        account: String,
        hour: i64,
        lane: i64,
        name: String,
        count: i64,
    },
    Open {
        account: String,
        request: Uuid,
        time_us: i64,
        instance: Uuid,
    },
    /// The signed heads of all chains; the last line.
    End(Vec<Checkpoint>),
}

#[derive(Serialize, Deserialize)]
pub(super) struct ItemLine {
    pub(crate) account: String,
    pub(crate) kind: String,
    pub(crate) id: String,
    pub(crate) lookup: Option<String>,
    #[serde(default = "first")]
    pub(crate) version: i64,
    pub(crate) body: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mac: Option<String>,
}

fn first() -> i64 {
    1
}

#[derive(Serialize, Deserialize)]
pub(super) struct EntryLine {
    pub(crate) account: String,
    pub(crate) record: Uuid,
    pub(crate) time_us: i64,
    pub(crate) lane: i64,
    pub(crate) seq: i64,
    pub(crate) leaf: String,
    pub(crate) digest: String,
    pub(crate) mac: String,
    pub(crate) signature: Option<String>,
    pub(crate) row: Option<RowLine>,
    pub(crate) contents: Vec<(String, String)>,
    pub(crate) tokens: Vec<String>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct RowLine {
    pub(crate) kind: i16,
    pub(crate) request: Option<Uuid>,
    pub(crate) key_id: Option<String>,
    pub(crate) mode: Option<String>,
    pub(crate) action: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) types: Option<String>,
    pub(crate) act: Option<String>,
    pub(crate) body: String,
}

/// Adds an entry to a batch.
pub(super) fn take_entry(batch: &mut Batch, line: EntryLine) -> Result<()> {
    let mac = STANDARD.decode(&line.mac).map_err(|_| unreadable())?;
    let link = Link {
        lane: line.lane,
        seq: line.seq,
        leaf: digest_bytes(&line.leaf).ok_or_else(unreadable)?,
        digest: digest_bytes(&line.digest).ok_or_else(unreadable)?,
        mac: mac.try_into().map_err(|_| unreadable())?,
        signature: line
            .signature
            .as_ref()
            .map(|text| STANDARD.decode(text))
            .transpose()
            .map_err(|_| unreadable())?,
    };
    let contents = contents_of(&line)?;
    let Some(row) = line.row else {
        batch
            .bare_links
            .push((line.account, line.record, line.time_us, link));
        return Ok(());
    };
    if !line.tokens.is_empty() {
        let codes = line.tokens.iter().map(|code| {
            let code = STANDARD.decode(code).map_err(|_| unreadable())?;
            code.try_into().map_err(|_| unreadable())
        });
        batch.lookups.push(LookupRow {
            account: line.account.clone(),
            request: row.request.unwrap_or_default(),
            time_us: line.time_us,
            codes: codes.collect::<Result<_>>()?,
        });
    }
    let row = AuditRow {
        account: line.account,
        id: line.record,
        time_us: line.time_us,
        kind: row.kind,
        request: row.request,
        key_id: row.key_id,
        mode: row.mode,
        action: row.action,
        model: row.model,
        types: row.types,
        act: row.act,
        body: row.body,
    };
    batch.records.push(NewRecord {
        row: Arc::new(row),
        link,
        contents,
    });
    Ok(())
}

fn contents_of(line: &EntryLine) -> Result<Contents> {
    let mut contents = Contents::default();
    for (field, sealed) in &line.contents {
        let sealed = STANDARD.decode(sealed).map_err(|_| unreadable())?.into();
        match field.as_str() {
            "original" => contents.original = Some(sealed),
            "sent" => contents.sent = Some(sealed),
            _ => return Err(unreadable()),
        }
    }
    Ok(contents)
}

/// An entry as a line.
pub(super) fn entry_line(
    account: &str,
    row: ChainRow,
    contents: &Contents,
    codes: &[LookupCode],
) -> EntryLine {
    let base64 = |bytes: &[u8]| STANDARD.encode(bytes);
    EntryLine {
        account: account.to_owned(),
        record: row.record,
        time_us: row.time_us,
        lane: row.link.lane,
        seq: row.link.seq,
        leaf: hex(&row.link.leaf),
        digest: hex(&row.link.digest),
        mac: base64(&row.link.mac),
        signature: row.link.signature.as_deref().map(base64),
        row: row.row.map(|row| RowLine {
            kind: row.kind,
            request: row.request,
            key_id: row.key_id,
            mode: row.mode,
            action: row.action,
            model: row.model,
            types: row.types,
            act: row.act,
            body: row.body,
        }),
        contents: contents
            .fields()
            .map(|(field, sealed)| (field.to_owned(), base64(sealed)))
            .collect(),
        tokens: codes.iter().map(|code| base64(code)).collect(),
    }
}

/// An item from its line.
pub(super) fn stored_item(line: ItemLine) -> Result<Item> {
    let mac = line.mac.map(|mac| STANDARD.decode(mac)).transpose();
    Ok(Item {
        account: line.account,
        kind: ItemKind::from_code(&line.kind).ok_or(StoreError::Unknown("kind of row"))?,
        id: line.id,
        lookup: line.lookup,
        version: line.version,
        body: line.body,
        mac: mac.map_err(|_| unreadable())?,
    })
}

/// An item as a line.
pub(super) fn item_line(item: Item) -> ItemLine {
    ItemLine {
        account: item.account,
        kind: item.kind.code().to_owned(),
        id: item.id,
        lookup: item.lookup,
        version: item.version,
        body: item.body,
        mac: item.mac.map(|mac| STANDARD.encode(mac)),
    }
}

pub(crate) fn unreadable() -> StoreError {
    StoreError::Invalid {
        what: "import file",
        why: "not an installation export, or damaged",
    }
}
