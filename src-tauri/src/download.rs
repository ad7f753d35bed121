//! Files of the service, written as they arrive: an export of a million tags
//! passes through no page and is in no memory as a whole. Stopped or broken off,
//! nothing is left behind.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tauri::ipc::Channel;
use tokio::fs::{self, File};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::{mpsc, oneshot};

/// The downloads that run, each with what stops it.
#[derive(Default)]
pub(crate) struct Downloads(Mutex<HashMap<String, oneshot::Sender<()>>>);

impl Downloads {
    /// Notes a download under the page's name for it. The receiver hears when it is to stop.
    pub(crate) fn begin(&self, id: String) -> oneshot::Receiver<()> {
        let (stop, stopped) = oneshot::channel();
        self.running().insert(id, stop);
        stopped
    }

    /// Stops a download, or forgets one that is over.
    pub(crate) fn end(&self, id: &str) {
        self.running().remove(id);
    }

    fn running(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the page wants to have saved.
#[derive(Debug, Deserialize)]
pub(crate) struct Wanted {
    /// The page's own name for the download, to stop it by.
    pub id: String,
    /// The name that is proposed for the file.
    pub name: String,
    /// Path and query of the service.
    pub path: String,
    /// With a body it is a POST.
    pub body: Option<Value>,
}

/// How much of a file has arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Far {
    bytes: u64,
    /// Lines, those within quotes not counted.
    rows: u64,
}

/// What arrives of a file, piece by piece; an error ends it.
pub(crate) type Pieces = mpsc::Receiver<Result<Vec<u8>, String>>;

/// Writes what arrives to `path`, whole or not at all, and reports its progress.
/// `false` if it was stopped.
pub(crate) async fn write(
    path: &Path,
    mut pieces: Pieces,
    stopped: oneshot::Receiver<()>,
    told: &Channel<Far>,
) -> Result<bool, String> {
    let part = part_of(path);
    let outcome = write_part(&part, path, &mut pieces, stopped, told).await;
    if outcome != Ok(true) {
        // It may not be there yet.
        let _ = fs::remove_file(&part).await;
    }
    outcome
}

/// Writes what arrives to `part` and calls it `path` once it is whole.
///
/// Stopping is heard while a piece is waited for, and nowhere else: what a dropped
/// future asked of the system may still be done after it, and would then create
/// the file that was just removed.
async fn write_part(
    part: &Path,
    path: &Path,
    pieces: &mut Pieces,
    mut stopped: oneshot::Receiver<()>,
    told: &Channel<Far>,
) -> Result<bool, String> {
    let refused = |error| format!("{} cannot be written: {error}.", path.display());
    let mut file = File::create(part).await.map_err(refused)?;
    let mut count = RowCount::default();
    loop {
        let piece = tokio::select! {
            biased;
            _ = &mut stopped => return Ok(false),
            piece = pieces.recv() => piece,
        };
        let Some(piece) = piece else { break };
        let piece = piece?;
        file.write_all(&piece).await.map_err(refused)?;
        count.add(&piece);
        // A page that is gone asks for nothing more; the file is still wanted.
        let _ = told.send(count.far);
    }
    file.sync_all().await.map_err(refused)?;
    fs::rename(part, path).await.map_err(refused)?;
    Ok(true)
}

fn part_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

/// Counts line ends that are not within quotes.
#[derive(Default)]
struct RowCount {
    far: Far,
    quoted: bool,
}

impl RowCount {
    fn add(&mut self, piece: &[u8]) {
        self.far.bytes += piece.len() as u64;
        for byte in piece {
            match byte {
                b'"' => self.quoted = !self.quoted,
                b'\n' if !self.quoted => self.far.rows += 1,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn silent() -> Channel<Far> {
        Channel::new(|_| Ok(()))
    }

    #[tokio::test]
    async fn a_file_is_written_whole_and_its_rows_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tags.csv");
        let (send, pieces) = mpsc::channel(4);
        for piece in ["name\r\n\"two\r\nli", "nes\"\r\nLamp\r\n"] {
            send.send(Ok(piece.into())).await.unwrap();
        }
        drop(send);
        let (_stop, stopped) = oneshot::channel();
        assert_eq!(write(&path, pieces, stopped, &silent()).await, Ok(true));
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "name\r\n\"two\r\nlines\"\r\nLamp\r\n");
        let mut count = RowCount::default();
        text.as_bytes().chunks(3).for_each(|piece| count.add(piece));
        assert_eq!((count.far.rows, count.far.bytes), (3, text.len() as u64));
    }

    #[tokio::test]
    async fn stopped_or_broken_off_it_leaves_the_former_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tags.csv");
        std::fs::write(&path, "former").unwrap();
        let left = || {
            let names = std::fs::read_dir(folder.path()).unwrap();
            names
                .map(|file| file.unwrap().file_name())
                .collect::<Vec<_>>()
        };

        let downloads = Downloads::default();
        let stopped = downloads.begin("1".to_owned());
        let (send, pieces) = mpsc::channel(4);
        send.send(Ok(b"new".to_vec())).await.unwrap();
        let told = silent();
        let writing = write(&path, pieces, stopped, &told);
        downloads.end("1");
        assert_eq!(writing.await, Ok(false));
        drop(send);
        assert_eq!(
            (left(), std::fs::read(&path).unwrap()),
            (vec!["tags.csv".into()], b"former".to_vec())
        );

        let (_stop, stopped) = oneshot::channel();
        let (send, pieces) = mpsc::channel(4);
        send.send(Ok(b"new".to_vec())).await.unwrap();
        send.send(Err("It broke off.".to_owned())).await.unwrap();
        drop(send);
        let broken = write(&path, pieces, stopped, &silent()).await;
        assert_eq!(broken, Err("It broke off.".to_owned()));
        assert_eq!(
            (left(), std::fs::read(&path).unwrap()),
            (vec!["tags.csv".into()], b"former".to_vec())
        );
    }
}
