//! LibreOffice without a window, as a person who opens a file, edits it and saves it.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

/// How long a conversion may take: some seconds, and minutes on a machine with other work.
const PATIENCE: Duration = Duration::from_mins(5);

/// The names of its program.
const PROGRAMS: [&str; 2] = ["soffice", "libreoffice"];

/// LibreOffice with a profile of its own, so that several can run at once.
pub struct LibreOffice {
    program: PathBuf,
    folder: tempfile::TempDir,
}

impl LibreOffice {
    /// `None` if this machine has no LibreOffice.
    pub fn new() -> Option<Self> {
        let path = std::env::var_os("PATH")?;
        let folders: Vec<_> = std::env::split_paths(&path).collect();
        let mut programs = PROGRAMS
            .iter()
            .flat_map(|name| folders.iter().map(move |at| at.join(name)));
        Some(Self {
            program: programs.find(|program| program.is_file())?,
            folder: tempfile::tempdir().expect("a folder"),
        })
    }

    /// Opens a file of the kind `from` and saves it as the kind `to`, such as `xlsx`.
    pub async fn saved_as(&self, file: &[u8], from: &str, to: &str) -> Vec<u8> {
        let source = self.folder.path().join(format!("in.{from}"));
        std::fs::write(&source, file).expect("the file is written");
        // A profile that is created for the first time can end the program early.
        for _ in 0..3 {
            let target = self.folder.path().join(format!("out/in.{to}"));
            self.convert(&source, to).await;
            if let Ok(saved) = std::fs::read(&target) {
                std::fs::remove_file(&target).expect("the file is removed");
                return saved;
            }
        }
        panic!("LibreOffice saved no .{to} file");
    }

    async fn convert(&self, source: &Path, to: &str) {
        let folder = self.folder.path();
        let profile = format!("-env:UserInstallation=file://{}/profile", folder.display());
        let mut command = Command::new(&self.program);
        command
            .args([
                &profile,
                "--headless",
                "--norestore",
                "--convert-to",
                to,
                "--outdir",
            ])
            .arg(folder.join("out"))
            .arg(source)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let output = tokio::time::timeout(PATIENCE, command.output()).await;
        output
            .expect("LibreOffice ends in time")
            .expect("LibreOffice starts");
    }
}
