//! Pictures, sound and files inside messages.

use super::super::request::Refusal;
use crate::json::Json;
use std::borrow::Cow;

/// A parsed `data:` URL.
pub(in super::super) struct Inline<'b> {
    /// The declared media type, as the caller wrote it.
    pub(in super::super) media_type: &'b str,
    /// The base64 text, in the standard alphabet.
    pub(in super::super) base64: Cow<'b, str>,
}

/// A picture.
pub(in super::super) enum Image<'b> {
    /// The bytes are in the request.
    Inline(Inline<'b>),
    /// A URL.
    Address(&'b str),
}

/// Reads an `image_url` part.
pub(in super::super) fn read_image<'b>(
    part: &'b Json<'_>,
    place: &str,
) -> Result<Image<'b>, Refusal> {
    let place = format!("{place}.image_url.url");
    let address = part
        .get("image_url")
        .and_then(|image| image.text_of("url"))
        .ok_or_else(|| Refusal::missing(place.clone()))?;
    let is_web = ["http://", "https://"]
        .iter()
        .any(|scheme| starts_with_ignoring_case(address, scheme));
    if is_web {
        Ok(Image::Address(address))
    } else {
        read_inline(address, &place).map(Image::Inline)
    }
}

/// Reads an `input_audio` part.
pub(in super::super) fn read_audio<'b>(
    part: &'b Json<'_>,
    place: &str,
) -> Result<Inline<'b>, Refusal> {
    let audio = part
        .given("input_audio")
        .ok_or_else(|| Refusal::missing(format!("{place}.input_audio")))?;
    let base64 = audio
        .text_of("data")
        .ok_or_else(|| Refusal::missing(format!("{place}.input_audio.data")))?;
    let media_type = match audio.text_of("format") {
        Some("wav") => "audio/wav",
        Some("mp3") => "audio/mp3",
        _ => {
            return Err(Refusal::value(
                format!("{place}.input_audio.format"),
                "only wav and mp3 can be sent",
            ));
        }
    };
    Ok(Inline {
        media_type,
        base64: Cow::Borrowed(base64),
    })
}

/// Reads a `file` part.
pub(in super::super) fn read_file<'b>(
    part: &'b Json<'_>,
    place: &str,
) -> Result<Inline<'b>, Refusal> {
    let file = part
        .given("file")
        .ok_or_else(|| Refusal::missing(format!("{place}.file")))?;
    let Some(address) = file.text_of("file_data") else {
        return Err(Refusal::value(
            format!("{place}.file"),
            "only files inside the request, as file_data, can be sent to this provider",
        ));
    };
    read_inline(address, &format!("{place}.file.file_data"))
}

/// The media type according to the first bytes of a picture, whatever was declared.
pub(in super::super) fn sniffed_type(base64: &str) -> Option<&'static str> {
    [
        ("iVBORw0KGgo", "image/png"),
        ("/9j/", "image/jpeg"),
        ("R0lGOD", "image/gif"),
        ("UklGR", "image/webp"),
    ]
    .into_iter()
    .find(|(start, _)| base64.starts_with(start))
    .map(|(_, media_type)| media_type)
}

fn read_inline<'b>(address: &'b str, place: &str) -> Result<Inline<'b>, Refusal> {
    let refusal = || Refusal::value(place, "this must be a data: address with base64 content");
    if !starts_with_ignoring_case(address, "data:") {
        return Err(refusal());
    }
    let (head, base64) = address["data:".len()..]
        .split_once(',')
        .ok_or_else(refusal)?;
    let media_type = head.split(';').next().unwrap_or_default();
    let is_base64 = head
        .split(';')
        .skip(1)
        .any(|option| option.eq_ignore_ascii_case("base64"));
    let base64 = standard_alphabet(base64);
    let is_clean = base64
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
    if !is_base64 || !is_clean || base64.is_empty() || !media_type.contains('/') {
        return Err(refusal());
    }
    Ok(Inline { media_type, base64 })
}

/// Converts to the standard base64 alphabet without line breaks, which every provider accepts.
fn standard_alphabet(base64: &str) -> Cow<'_, str> {
    if !base64
        .bytes()
        .any(|byte| matches!(byte, b'-' | b'_' | b' ' | b'\r' | b'\n'))
    {
        return Cow::Borrowed(base64);
    }
    let letters = base64
        .chars()
        .filter(|letter| !matches!(letter, ' ' | '\r' | '\n'));
    Cow::Owned(
        letters
            .map(|letter| match letter {
                '-' => '+',
                '_' => '/',
                other => other,
            })
            .collect(),
    )
}

fn starts_with_ignoring_case(text: &str, start: &str) -> bool {
    text.get(..start.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(start))
}
