//! Files: JSON lines, appended and synced. A file that was moved away is opened anew.

use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use percent_encoding::percent_decode_str;
use phigate_store::{ExportConfig, ExportedLine, SecretString};

use super::http::Way;
use super::sink::{Problem, Sink, joined};
use super::target::TargetKind;

/// Beginning of our lines: a line that a crash cut short is recognised by it.
const OURS: &[u8] = b"{\"record\":\"";

/// Most bytes of a line that is looked for at the end of a file.
const TAIL_MAX: u64 = 4 << 20;

pub(super) static KIND: TargetKind = TargetKind::new("file://", |config, _| check(config), open);

struct Lines {
    path: PathBuf,
    file: Option<Arc<std::fs::File>>,
}

fn path(config: &ExportConfig) -> Result<PathBuf, String> {
    let rest = KIND.rest(&config.to);
    let path = percent_decode_str(rest).decode_utf8().unwrap_or_default();
    let is_fine = path.starts_with('/') && !path.ends_with('/') && !path.contains('\0');
    if is_fine {
        Ok(PathBuf::from(path.into_owned()))
    } else {
        Err(
            "--to names no file: file:// is followed by an absolute path, without a host"
                .to_owned(),
        )
    }
}

fn check(config: &ExportConfig) -> Result<(), String> {
    let path = path(config)?;
    if path.is_dir() {
        return Err("--to is a folder: name a file in it".to_owned());
    }
    match path.parent() {
        Some(folder) if folder.is_dir() => Ok(()),
        _ => Err("--to names a file in a folder that does not exist".to_owned()),
    }
}

fn open(config: &ExportConfig, _: Option<SecretString>, _: &Way) -> Result<Box<dyn Sink>, Problem> {
    let path = path(config).map_err(Problem::new)?;
    Ok(Box::new(Lines { path, file: None }))
}

#[async_trait]
impl Sink for Lines {
    async fn begin(&mut self) -> Result<bool, Problem> {
        let (path, held) = (self.path.clone(), self.file.take());
        let file = off_thread(move || {
            let file = match held.filter(|file| is_at(file, &path)) {
                Some(file) => file,
                None => Arc::new(open_file(&path)?),
            };
            let is_empty = file.metadata()?.len() == 0;
            Ok((file, is_empty))
        });
        let (file, is_empty) = file.await?;
        self.file = Some(file);
        Ok(is_empty)
    }

    async fn deliver(&mut self, lines: &[ExportedLine]) -> Result<u64, Problem> {
        let Some(file) = self.file.clone() else {
            return Err(Problem::new("the file is not open"));
        };
        let text = joined(lines);
        let written = off_thread(move || {
            let before = file.metadata()?.len();
            let written = (&*file).write_all(&text).and_then(|()| file.sync_data());
            if written.is_err() {
                // Half a line would spoil the next.
                let _ = file.set_len(before);
            }
            written
        });
        written.await?;
        Ok(0)
    }

    /// Opens the file and writes nothing.
    async fn test(&mut self, _: &ExportedLine) -> Result<(), Problem> {
        self.begin().await.map(drop)
    }
}

/// Disks may be slow, and other targets share the thread.
async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, Problem> {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(Problem::of_io("cannot write the file", &error)),
        Err(_) => Err(Problem::new("cannot write the file")),
    }
}

/// Whether an open file is still the one at its path.
fn is_at(file: &std::fs::File, path: &Path) -> bool {
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(open), Ok(there)) => (open.dev(), open.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

fn open_file(path: &Path) -> std::io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    let options = options.read(true).append(true).create(true).mode(0o600);
    let mut file = options.open(path)?;
    mend(&mut file)?;
    Ok(file)
}

/// Removes a line of ours that was cut short; ends any other unfinished line.
fn mend(file: &mut std::fs::File) -> std::io::Result<()> {
    let length = file.metadata()?.len();
    let from = length.saturating_sub(TAIL_MAX);
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(from))?;
    file.read_to_end(&mut tail)?;
    let begin = tail
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let unfinished = &tail[begin..];
    if unfinished.is_empty() {
        return Ok(());
    }
    let common = unfinished.len().min(OURS.len());
    if unfinished[..common] == OURS[..common] {
        return file.set_len(from + begin as u64);
    }
    file.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cut_line_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines.jsonl");
        for (before, after) in [
            ("", ""),
            ("{\"record\":\"admin\"}\n", "{\"record\":\"admin\"}\n"),
            ("{\"record\":\"admin\"}\n{\"rec", "{\"record\":\"admin\"}\n"),
            ("{\"record\":\"decision\",\"ti", ""),
            ("a note", "a note\n"),
        ] {
            std::fs::write(&path, before).unwrap();
            drop(open_file(&path).unwrap());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), after);
        }
    }
}
