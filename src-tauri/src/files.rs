//! Files that the person chooses in the system's dialogs. The page itself reads and writes no
//! files.

use std::path::{Path, PathBuf};

use axum::http::HeaderMap;
use percent_encoding::percent_decode_str;
use tauri::ipc::{InvokeBody, Request};
use tauri::{AppHandle, Manager as _};
use tauri_plugin_dialog::{DialogExt as _, FileDialogBuilder};
use tokio::sync::oneshot;

use crate::origin::MAIN;

/// The header in which the page proposes a name, percent-encoded.
const FILE_NAME: &str = "x-file-name";

/// Saves the request's body where the person chooses.
pub(crate) async fn save(app: &AppHandle, request: &Request<'_>) -> Result<bool, String> {
    let InvokeBody::Raw(bytes) = request.body() else {
        return Err("A file must be sent as bytes.".to_owned());
    };
    let Some(path) = choose_place(app, &proposed_name(request.headers())).await else {
        return Ok(false);
    };
    write(&path, bytes).await?;
    Ok(true)
}

/// Asks where to save a file of this name; `None` if the person cancels.
pub(crate) async fn choose_place(app: &AppHandle, name: &str) -> Option<PathBuf> {
    let (chosen, choice) = oneshot::channel();
    dialog(app)
        .set_file_name(last_part(name))
        .save_file(move |path| drop(chosen.send(path)));
    chosen_path(choice).await
}

/// Asks for a backup file; `None` if the person cancels.
pub(crate) async fn choose_backup(app: &AppHandle) -> Option<PathBuf> {
    let (chosen, choice) = oneshot::channel();
    dialog(app).pick_file(move |path| drop(chosen.send(path)));
    chosen_path(choice).await
}

fn dialog(app: &AppHandle) -> FileDialogBuilder<tauri::Wry> {
    let dialog = app.dialog().file();
    match app.get_webview_window(MAIN) {
        Some(window) => dialog.set_parent(&window),
        None => dialog,
    }
}

async fn chosen_path(
    choice: oneshot::Receiver<Option<tauri_plugin_dialog::FilePath>>,
) -> Option<PathBuf> {
    choice.await.ok()??.into_path().ok()
}

async fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let refused = |error| format!("{} cannot be written: {error}.", path.display());
    tokio::fs::write(path, bytes).await.map_err(refused)
}

/// The name that the page proposes.
fn proposed_name(headers: &HeaderMap) -> String {
    let encoded = headers.get(FILE_NAME).and_then(|name| name.to_str().ok());
    let name = percent_decode_str(encoded.unwrap_or_default()).decode_utf8_lossy();
    last_part(&name).to_owned()
}

/// The last part of a proposed name, because the person chooses the folder.
fn last_part(name: &str) -> &str {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    if last.is_empty() { "tapdesk" } else { last }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proposed_name_never_names_a_folder() {
        for (encoded, name) in [
            ("tags.csv", "tags.csv"),
            ("B%C3%BCcher%20%E2%80%93%202.csv", "Bücher – 2.csv"),
            ("..%2F..%2Fetc%2Fpasswd", "passwd"),
            ("C%3A%5Ctags.csv", "tags.csv"),
            ("", "tapdesk"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(FILE_NAME, encoded.parse().unwrap());
            assert_eq!(proposed_name(&headers), name);
        }
        assert_eq!(proposed_name(&HeaderMap::new()), "tapdesk");
    }
}
