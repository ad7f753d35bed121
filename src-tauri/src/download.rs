//! Files of the service, written as they arrive: an export of a million tags never passes through
//! the page, and is never in memory as a whole. If the connection of an export breaks, it is
//! resumed after its last whole row: a few times automatically, then when the person asks for it. A
//! stopped download leaves no file.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tapdesk_service::client::{self, Cursor, FileError, Interrupted};
use tauri::ipc::Channel;
use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

/// Pauses before the retries of an interrupted download, one after the other.
pub(crate) const PAUSES: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(3),
    Duration::from_secs(10),
];

/// The downloads of the page, by the page's ids.
#[derive(Default)]
pub(crate) struct Downloads {
    /// Running downloads, each with the sender that stops it.
    running: Mutex<HashMap<String, oneshot::Sender<()>>>,
    /// Interrupted downloads that wait until the person resumes them.
    broken: Mutex<HashMap<String, Download>>,
}

impl Downloads {
    /// Registers a download under the page's id. The receiver fires when the download is to stop.
    pub(crate) fn begin(&self, id: String) -> oneshot::Receiver<()> {
        let (stop, stopped) = oneshot::channel();
        locked(&self.running).insert(id, stop);
        stopped
    }

    /// Stops a download, or forgets one that has ended.
    pub(crate) fn end(&self, id: &str) {
        locked(&self.running).remove(id);
        locked(&self.broken).remove(id);
    }

    /// Keeps an interrupted download so that it can be resumed.
    pub(crate) fn keep(&self, id: String, download: Download) {
        locked(&self.broken).insert(id, download);
    }

    /// Takes an interrupted download to resume it.
    pub(crate) fn kept(&self, id: &str) -> Option<Download> {
        locked(&self.broken).remove(id)
    }
}

fn locked<T>(downloads: &Mutex<T>) -> MutexGuard<'_, T> {
    downloads.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A download that the page asks for.
#[derive(Debug, Deserialize)]
pub(crate) struct Wanted {
    /// The page's own id for the download, used to stop it.
    pub id: String,
    /// The id of the connection that the file comes from.
    pub connection: String,
    /// The proposed file name.
    pub name: String,
    /// Path and query of the service.
    pub path: String,
    /// The body of a POST; `None` for a GET.
    pub body: Option<Value>,
}

/// How a download ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "DownloadOutcome"))]
pub(crate) enum DownloadOutcome {
    /// The file is where the person chose.
    Saved,
    /// The person stopped it, or chose no place: there is no file.
    Stopped,
    /// The connection broke, and the automatic retries failed. The person can resume it.
    BrokenOff,
}

/// How much of a file has arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Downloaded"))]
pub(crate) struct Far {
    bytes: u64,
    /// Line ends outside of quotes.
    rows: u64,
}

impl From<client::Progress> for Far {
    fn from(client::Progress { bytes, rows }: client::Progress) -> Self {
        Self { bytes, rows }
    }
}

/// The pieces of a file; an error ends them.
pub(crate) type Pieces = mpsc::Receiver<Result<Vec<u8>, String>>;

/// A file of which the response has begun.
pub struct Arriving {
    /// The body, piece by piece.
    pub pieces: Pieces,
    /// The cursor with which an export of rows is resumed.
    pub(crate) cursor: Option<Cursor>,
}

/// A download that can span several connections.
pub(crate) struct Download {
    connection: String,
    body: Option<Value>,
    file: client::Download,
}

/// How a download ended after all retries.
pub(crate) enum Received {
    Saved,
    Stopped,
    BrokenOff(Box<Download>),
}

/// How one connection of a download ended.
enum Ended {
    Whole,
    Stopped,
    Broken(String),
}

impl Download {
    /// Starts the partial file of the download to `place`.
    pub(crate) async fn to(place: PathBuf, wanted: Wanted) -> Result<Self, String> {
        let path = wanted.path;
        Ok(Self {
            connection: wanted.connection,
            body: wanted.body,
            file: on_disk(move || client::Download::replace(&place, path)).await?,
        })
    }

    /// The id of the connection that the file comes from.
    pub(crate) fn connection(&self) -> &str {
        &self.connection
    }

    /// Writes everything that `ask` delivers, whole or not at all, and reports progress. After an
    /// interruption it asks again after each of `pauses`; each time more has arrived, the pauses
    /// start over.
    pub(crate) async fn receive<F>(
        self,
        ask: impl Fn(String, Option<Value>) -> F,
        pauses: &[Duration],
        mut stopped: oneshot::Receiver<()>,
        progress: &Channel<Far>,
    ) -> Result<Received, String>
    where
        F: Future<Output = Result<Arriving, String>>,
    {
        let mut file = self.file;
        let mut left = pauses.iter();
        loop {
            let before = file.progress().bytes;
            let ended;
            (file, ended) = match ask(file.path(), self.body.clone()).await {
                Ok(Arriving { pieces, cursor }) => match file.begin(cursor) {
                    Ok(()) => write(file, pieces, &mut stopped, progress).await?,
                    Err(why) => (file, Ended::Broken(why.to_string())),
                },
                Err(why) => (file, Ended::Broken(why)),
            };
            let why = match ended {
                Ended::Whole => {
                    on_disk(move || file.finish()).await?;
                    return Ok(Received::Saved);
                }
                Ended::Stopped => return Ok(Received::Stopped),
                Ended::Broken(why) => why,
            };
            let interrupted;
            (file, interrupted) = on_disk(move || {
                let interrupted = file.interrupted()?;
                Ok((file, interrupted))
            })
            .await?;
            if interrupted == Interrupted::Lost {
                return Err(why);
            }
            if file.progress().bytes > before {
                left = pauses.iter();
            }
            let Some(pause) = left.next() else {
                return Ok(Received::BrokenOff(Box::new(Self { file, ..self })));
            };
            tokio::select! {
                biased;
                _ = &mut stopped => return Ok(Received::Stopped),
                () = sleep(*pause) => {}
            }
        }
    }
}

/// Writes the pieces. Stopping is checked only while waiting for a piece, because a write that a
/// dropped future started may still happen afterwards.
async fn write(
    mut file: client::Download,
    mut pieces: Pieces,
    stopped: &mut oneshot::Receiver<()>,
    progress: &Channel<Far>,
) -> Result<(client::Download, Ended), String> {
    loop {
        let piece = tokio::select! {
            biased;
            _ = &mut *stopped => return Ok((file, Ended::Stopped)),
            piece = pieces.recv() => piece,
        };
        let piece = match piece {
            None => return Ok((file, Ended::Whole)),
            Some(Err(why)) => return Ok((file, Ended::Broken(why))),
            Some(Ok(piece)) => piece,
        };
        file = on_disk(move || match file.write_all(&piece) {
            Ok(()) => Ok(file),
            Err(error) => Err(file.cannot_write(error)),
        })
        .await?;
        // If the page is gone, nobody hears the progress, but the file is still wanted.
        let _ = progress.send(file.progress().into());
    }
}

/// Works with a file on a thread that may wait for the disk.
async fn on_disk<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FileError> + Send + 'static,
) -> Result<T, String> {
    let done = spawn_blocking(work).await;
    let done = done.map_err(|_| "The file cannot be written.".to_owned())?;
    done.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::ffi::OsString;
    use std::path::Path;
    use std::sync::Arc;

    use serde_json::json;
    use tapdesk_service::client::Rows;

    use super::*;

    fn silent() -> Channel<Far> {
        Channel::new(|_| Ok(()))
    }

    async fn download(place: &Path) -> Download {
        let wanted = Wanted {
            id: "1".to_owned(),
            connection: "embedded".to_owned(),
            name: "tags.csv".to_owned(),
            path: "/export?format=csv".to_owned(),
            body: None,
        };
        Download::to(place.to_owned(), wanted).await.unwrap()
    }

    /// A response of some pieces that then ends, or breaks off.
    fn arriving(texts: &[&str], breaks: bool, cursor: Option<&str>) -> Arriving {
        let (send, pieces) = mpsc::channel(8);
        for text in texts {
            send.try_send(Ok((*text).into())).unwrap();
        }
        if breaks {
            send.try_send(Err("The connection broke.".to_owned()))
                .unwrap();
        }
        let cursor = cursor.map(|bound| Cursor {
            bound: bound.to_owned(),
            rows: Rows::Csv,
        });
        Arriving { pieces, cursor }
    }

    fn left(folder: &Path) -> Vec<OsString> {
        let names = std::fs::read_dir(folder).unwrap();
        names.map(|file| file.unwrap().file_name()).collect()
    }

    #[tokio::test]
    async fn a_file_is_written_whole_and_its_rows_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tags.csv");
        let pieces = ["name\r\n\"two\r\nli", "nes\"\r\nLamp\r\n"];
        let ask = |_, _| async move { Ok(arriving(&pieces, false, None)) };
        let (_stop, stopped) = oneshot::channel();
        let messages = Arc::new(Mutex::new(Vec::new()));
        let written = Arc::clone(&messages);
        let progress = Channel::new(move |body| {
            locked(&written).push(body.deserialize::<Value>()?);
            Ok(())
        });
        let received = download(&path).await.receive(ask, &[], stopped, &progress);
        assert!(matches!(received.await, Ok(Received::Saved)));
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, pieces.concat());
        assert_eq!(left(folder.path()), ["tags.csv"]);
        let last = locked(&messages).last().cloned();
        assert_eq!(last, Some(json!({"bytes": text.len(), "rows": 3})));
    }

    #[tokio::test]
    async fn stopped_or_broken_off_it_leaves_the_former_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tags.csv");
        std::fs::write(&path, "former").unwrap();
        let progress = silent();

        let downloads = Downloads::default();
        let stopped = downloads.begin("1".to_owned());
        let ask = |_, _| async { Ok(arriving(&["new"], false, None)) };
        let received = download(&path).await.receive(ask, &[], stopped, &progress);
        downloads.end("1");
        assert!(matches!(received.await, Ok(Received::Stopped)));
        assert_eq!(left(folder.path()), ["tags.csv"]);

        let (_stop, stopped) = oneshot::channel();
        let ask = |_, _| async { Ok(arriving(&["new"], true, None)) };
        let received = download(&path)
            .await
            .receive(ask, &PAUSES, stopped, &progress);
        assert!(matches!(received.await, Err(why) if why == "The connection broke."));
        assert_eq!(left(folder.path()), ["tags.csv"]);
        assert_eq!(std::fs::read(&path).unwrap(), b"former");
    }

    #[tokio::test]
    async fn an_export_goes_on_behind_its_last_whole_row() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("taps.csv");
        let asked = RefCell::new(Vec::new());
        let ask = |path: String, _| {
            asked.borrow_mut().push(path);
            let times = asked.borrow().len();
            async move {
                match times {
                    // This piece contains no whole row.
                    1 => Ok(arriving(&["id,na"], true, Some("9"))),
                    2 => Ok(arriving(&["id,name\r\n9,a\r\n8,\"b\r\n"], true, Some("9"))),
                    3 => Err("It does not answer.".to_owned()),
                    4 => Ok(arriving(&["8,b\r\n7,"], true, Some("9"))),
                    _ => Ok(arriving(&["7,c\r\n"], false, Some("9"))),
                }
            }
        };
        let (_stop, stopped) = oneshot::channel();
        let progress = silent();
        let pauses = [Duration::ZERO; 2];
        let received = download(&path)
            .await
            .receive(ask, &pauses, stopped, &progress);
        assert!(matches!(received.await, Ok(Received::Saved)));
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "id,name\r\n9,a\r\n8,b\r\n7,c\r\n");
        let begun = "/export?format=csv";
        // The rest has the columns of the header row, because the columns of form values depend on
        // the rows.
        let rest = format!("{begun}&columns=id%2Cname");
        let (nine, eight) = (format!("{rest}&cursor=9.9"), format!("{rest}&cursor=9.8"));
        assert_eq!(
            asked.take(),
            [begun, begun, nine.as_str(), nine.as_str(), eight.as_str()]
        );
    }

    #[tokio::test]
    async fn what_is_broken_off_again_and_again_waits_for_the_person() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("taps.csv");
        let downloads = Downloads::default();
        let progress = silent();
        for goes_on in [true, false] {
            let stopped = downloads.begin("1".to_owned());
            let ask = |address: String, _| async move {
                if address.contains("cursor") {
                    return Err("It does not answer.".to_owned());
                }
                Ok(arriving(&["id\r\n2\r\n"], true, Some("2")))
            };
            let pauses = [Duration::ZERO; 2];
            let received = download(&path)
                .await
                .receive(ask, &pauses, stopped, &progress);
            let Ok(Received::BrokenOff(broken)) = received.await else {
                panic!("it is not broken off");
            };
            downloads.end("1");
            downloads.keep("1".to_owned(), *broken);
            assert!(left(folder.path()).contains(&"taps.csv.part".into()));
            if goes_on {
                let broken = downloads.kept("1").unwrap();
                let ask = |_, _| async { Ok(arriving(&["1\r\n"], false, Some("2"))) };
                let stopped = downloads.begin("1".to_owned());
                let received = broken.receive(ask, &pauses, stopped, &progress).await;
                assert!(matches!(received, Ok(Received::Saved)));
            }
            downloads.end("1");
            assert_eq!(left(folder.path()), ["taps.csv"]);
        }
        assert_eq!(std::fs::read(&path).unwrap(), b"id\r\n2\r\n1\r\n");
    }
}
