//! Taking in a request: its documents are read before it is decided about, because deciding never waits.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use phigate_core::doors::{CHAT, Door};
use phigate_core::request::{Request, RequestError};
use phigate_store::Account;
use phigate_types::{DocumentText, Documents, NoText, Unread};
use tokio::sync::OwnedSemaphorePermit;

use crate::documents::ROOM_UNIT;
use crate::error::GatewayError;
use crate::gateway::Gateway;
use crate::open::Permits;
use crate::record::RequestRecord;
use crate::route;
use crate::scan_job::{ScanJob, is_long};

/// The most bytes of text of all documents of a request.
const TEXT_MAX: usize = 32 << 20;

/// Documents of one request that are read at a time.
const AT_A_TIME: usize = 2;

/// Request as it is decided about.
pub(crate) enum Intake {
    /// A body without documents to read.
    Body(Bytes),
    /// A request, and the texts of its documents.
    Read(Box<Request>, Texts),
}

/// Texts of the documents of a request.
pub(crate) struct Texts {
    texts: Vec<Result<DocumentText, NoText>>,
    /// Room in memory that they take.
    _room: OwnedSemaphorePermit,
}

/// A request, and the bytes of its documents.
type Parsed = (Box<Request>, Vec<Result<Vec<u8>, Unread>>);

impl Intake {
    /// Takes in a body, and reads its documents if the account has them read.
    pub(crate) async fn take(
        record: &RequestRecord,
        body: Bytes,
        permits: &Permits,
    ) -> Result<Self, GatewayError> {
        let (gateway, account) = (&record.gateway, &record.admission.account);
        if account.settings.documents != Documents::Text || !may_hold_documents(&body) {
            return Ok(Self::Body(body));
        }
        let job = ScanJob {
            gateway,
            account: &account.id,
            key: &record.admission.key_id,
            scanner: gateway.scanners.of(account)?,
            is_long: is_long(&body),
        };
        let door = record.door.unwrap_or(&CHAT);
        let kept = (permits.clone(), record.permit.clone());
        let (parsing, owner, copy) = (Arc::clone(gateway), Arc::clone(account), body.clone());
        let parsed = job.run(kept, move |_| parse(&parsing, &owner, door, &copy));
        match parsed.await? {
            Some((request, documents)) => {
                let texts = read_all(gateway, &account.id, documents).await?;
                Ok(Self::Read(request, texts))
            }
            // Errors are found again, in their order, where the request is decided about.
            None => Ok(Self::Body(body)),
        }
    }

    /// Whether it takes long to scan.
    pub(crate) fn is_long(&self) -> bool {
        match self {
            Self::Body(body) => is_long(body),
            Self::Read(request, texts) => {
                let texts = texts.texts.iter().flatten();
                let mut passages = texts.flat_map(|text| &text.passages);
                is_long(request.document().expose().as_bytes())
                    || passages.any(|passage| is_long(passage.text.as_bytes()))
            }
        }
    }

    /// Returns the request, with the texts of its documents.
    pub(crate) fn into_request(
        self,
        gateway: &Gateway,
        door: &Door,
    ) -> Result<Request, RequestError> {
        match self {
            Self::Body(body) => Request::read(door.form, body.into(), &gateway.request_limits()),
            Self::Read(request, texts) => Ok(request.with_texts(texts.texts)),
        }
    }
}

/// Whether a body has the words of a document. One that spells them in escapes is not read, and so not scanned.
fn may_hold_documents(body: &[u8]) -> bool {
    let text = std::str::from_utf8(body).unwrap_or_default();
    ["file_data", "base64"]
        .iter()
        .any(|word| text.contains(word))
}

/// Parses a request with documents; `None` if it has none, or will be refused.
fn parse(gateway: &Gateway, account: &Account, door: &Door, body: &Bytes) -> Option<Parsed> {
    let request = Request::read(door.form, body.to_vec(), &gateway.request_limits()).ok()?;
    route::routes_at(door, account, request.model()).ok()?;
    let most = gateway.limits.document_bytes as usize;
    let bytes = |inline: phigate_core::request::Inline<'_>| {
        let bytes = inline.bytes()?;
        match bytes.len() > most {
            true => Err(Unread::TooLarge),
            false => Ok(bytes),
        }
    };
    let documents: Vec<_> = request.inline_documents().into_iter().map(bytes).collect();
    (!documents.is_empty()).then(|| (Box::new(request), documents))
}

/// Reads documents, a few at a time. Those beyond the limit of all their text count as too large.
async fn read_all(
    gateway: &Gateway,
    account: &str,
    documents: Vec<Result<Vec<u8>, Unread>>,
) -> Result<Texts, GatewayError> {
    let read = |bytes: Result<Vec<u8>, Unread>| async {
        let text = gateway
            .readers
            .submit(account, bytes.map_err(NoText::Unread)?);
        text.await.unwrap_or(Err(NoText::NoReader))
    };
    let mut read = stream::iter(documents).map(read).buffered(AT_A_TIME);
    let (mut texts, mut size) = (Vec::new(), 0);
    while let Some(text) = read.next().await {
        let bytes = text.as_ref().map_or(0, size_of);
        let fits = size + bytes <= TEXT_MAX;
        size += if fits { bytes } else { 0 };
        texts.push(match fits {
            true => text,
            false => Err(NoText::Unread(Unread::TooLarge)),
        });
    }
    let units = u32::try_from(size / ROOM_UNIT + 1).unwrap_or(u32::MAX);
    let room = Arc::clone(&gateway.text_room).try_acquire_many_owned(units);
    Ok(Texts {
        texts,
        _room: room.map_err(|_| GatewayError::DetectorBusy)?,
    })
}

fn size_of(text: &DocumentText) -> usize {
    text.passages.iter().map(|passage| passage.text.len()).sum()
}
