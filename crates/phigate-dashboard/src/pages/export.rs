//! Exporting the log, as lines that can be verified offline or as a table for spreadsheets.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};
use jiff::Timestamp;
use phigate_store::{AuditTable, Export, ExportOrder, Filter, Record, Trail};
use tokio::sync::mpsc;

use super::log_filter;
use crate::Dash;
use crate::visit::{Answer, PageError, SignedIn, redirect};

/// Lines are sent in pieces of about this size.
const PIECE_BYTES: usize = 64 * 1024;
/// Pieces that may wait for a slow reader; then the export waits too.
const PIECES: usize = 4;

/// Format of an export.
struct Format {
    code: &'static str,
    media_type: &'static str,
    /// A table has a row per request; otherwise lines are the records themselves.
    is_table: bool,
}

static FORMATS: &[Format] = &[
    // The first is the default.
    Format {
        code: "jsonl",
        media_type: "application/x-ndjson",
        is_table: false,
    },
    Format {
        code: "csv",
        media_type: "text/csv; charset=utf-8",
        is_table: true,
    },
];

/// `GET /audit/export`: a read in the sense of forms, and recorded all the same.
pub(crate) async fn export(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let asked = visit.context.query.get("format");
    let format = FORMATS
        .iter()
        .find(|format| format.code == asked)
        .unwrap_or(&FORMATS[0]);
    let query = &visit.context.query;
    let (filter, tab) = match query.get("what") {
        "acts" => (
            log_filter::acts(query, Timestamp::now()),
            "/audit/administration",
        ),
        "everything" => (Ok(Filter::default()), "/audit/integrity"),
        _ => (log_filter::requests(query, Timestamp::now()), "/audit"),
    };
    // The page of the log says what is wrong with the filter.
    let Ok(filter) = filter else {
        return Ok(redirect(&format!(
            "{tab}?{}",
            query.query_with("format", "")
        )));
    };
    let (pieces, taken) = mpsc::channel::<Result<Bytes, std::io::Error>>(PIECES);
    let (trail, account_id, actor) = (
        dash.vault.trail.clone(),
        visit.account_id().to_owned(),
        visit.actor().to_owned(),
    );
    tokio::spawn(async move {
        if let Err(error) = write(&trail, &account_id, &filter, &actor, format, &pieces).await {
            tracing::warn!("an export broke off: {error}");
            // The reader must see that it is not complete.
            let _ = pieces
                .send(Err(std::io::Error::other("the export broke off")))
                .await;
        }
    });
    let stream = futures_util::stream::unfold(taken, async |mut taken| {
        taken.recv().await.map(|piece| (piece, taken))
    });
    let name = format!(
        "phigate-audit-{}.{}",
        Timestamp::now().strftime("%Y%m%d-%H%M%S"),
        format.code
    );
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""))
        .map_err(|_| PageError::Broken)?;
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static(format.media_type),
        ),
        (header::CONTENT_DISPOSITION, disposition),
    ];
    Ok::<Response, _>((headers, Body::from_stream(stream)).into_response())
}

async fn write(
    trail: &Trail,
    account_id: &str,
    filter: &Filter,
    actor: &str,
    format: &Format,
    pieces: &Pieces,
) -> phigate_store::Result<()> {
    let order = ExportOrder {
        actor,
        format: format.code,
    };
    let mut export = trail.audit_export(account_id, filter, order).await?;
    let written = match format.is_table {
        true => write_table(&mut export, pieces).await,
        false => write_lines(&mut export, pieces).await,
    };
    export.end(matches!(written, Ok(true))).await?;
    written.map(drop)
}

/// Pieces of an export on their way to the browser.
type Pieces = mpsc::Sender<Result<Bytes, std::io::Error>>;

/// Sends the buffered text; false if the reader has left.
async fn send(pieces: &Pieces, piece: &mut String) -> bool {
    let piece = Bytes::from(std::mem::take(piece));
    pieces.send(Ok(piece)).await.is_ok()
}

/// Writes every line; false if the reader has left.
async fn write_lines(export: &mut Export<'_>, pieces: &Pieces) -> phigate_store::Result<bool> {
    let mut piece = String::new();
    while let Some(line) = export.next().await? {
        piece.push_str(&line.json);
        piece.push('\n');
        if piece.len() >= PIECE_BYTES && !send(pieces, &mut piece).await {
            return Ok(false);
        }
    }
    Ok(send(pieces, &mut piece).await)
}

/// Writes a row for each request and act; false if the reader has left.
async fn write_table(export: &mut Export<'_>, pieces: &Pieces) -> phigate_store::Result<bool> {
    let mut table = AuditTable::default();
    let mut piece = AuditTable::header();
    while let Some(line) = export.next().await? {
        let row = |record: &Record| table.line(record);
        piece.extend(line.record.as_ref().and_then(row));
        export.made_rows(table.rows());
        if piece.len() >= PIECE_BYTES && !send(pieces, &mut piece).await {
            return Ok(false);
        }
    }
    piece.push_str(&table.rest());
    export.made_rows(table.rows());
    Ok(send(pieces, &mut piece).await)
}
