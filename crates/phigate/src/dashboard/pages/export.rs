//! Exporting the log, as lines that can be verified offline or as a table for spreadsheets.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};
use jiff::Timestamp;
use phigate_store::{ExportLine, Filter};
use tokio::sync::mpsc;

use super::audit::read_filter;
use crate::app::App;
use crate::audit_csv;
use crate::dashboard::Dash;
use crate::dashboard::visit::{Answer, PageError, SignedIn, go_to};

/// Lines are sent in pieces of about this size.
const PIECE_BYTES: usize = 64 * 1024;
/// Pieces that may wait for a slow reader; then the export waits too.
const PIECES: usize = 4;

/// How an export is written; heads and lines end with a line break.
struct Format {
    code: &'static str,
    media_type: &'static str,
    head: fn() -> Option<String>,
    line: fn(&ExportLine) -> Option<String>,
}

static FORMATS: &[Format] = &[
    // The first is what one gets without asking.
    Format {
        code: "jsonl",
        media_type: "application/x-ndjson",
        head: || None,
        line: |line| Some(format!("{}\n", line.json)),
    },
    Format {
        code: "csv",
        media_type: "text/csv; charset=utf-8",
        head: || Some(audit_csv::header()),
        line: |line| line.record.as_ref().map(audit_csv::row),
    },
];

/// `GET /audit/export`: a read in the sense of forms, and recorded all the same.
pub(crate) async fn export(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let asked = visit.head.query.get("format");
    let format = FORMATS
        .iter()
        .find(|format| format.code == asked)
        .unwrap_or(&FORMATS[0]);
    // The page of the log says what is wrong with the filter.
    let Ok(filter) = read_filter(&visit.head.query, Timestamp::now()) else {
        let query = visit.head.query.query_with("format", "");
        return Ok(go_to(&format!("/audit?{query}")));
    };
    let (pieces, taken) = mpsc::channel::<Result<Bytes, std::io::Error>>(PIECES);
    let (app, account_id, actor) = (
        Arc::clone(&dash.app),
        visit.account_id().to_owned(),
        visit.actor().to_owned(),
    );
    tokio::spawn(async move {
        if let Err(error) = write(&app, &account_id, &filter, &actor, format, &pieces).await {
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
    app: &App,
    account_id: &str,
    filter: &Filter,
    actor: &str,
    format: &Format,
    pieces: &mpsc::Sender<Result<Bytes, std::io::Error>>,
) -> phigate_store::Result<()> {
    let mut export = app
        .vault
        .trail
        .audit_export(account_id, filter, actor)
        .await?;
    let mut piece = String::new();
    piece.extend((format.head)());
    while let Some(line) = export.next().await? {
        piece.extend((format.line)(&line));
        if piece.len() >= PIECE_BYTES
            && pieces
                .send(Ok(Bytes::from(std::mem::take(&mut piece))))
                .await
                .is_err()
        {
            // Nobody reads any more.
            return Ok(());
        }
    }
    let _ = pieces.send(Ok(Bytes::from(piece))).await;
    Ok(())
}
