//! Folders that cannot hold a database: network drives, and drives without shared memory.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use tapdesk_tests::Launch;
use tapdesk_tests::skip;
use tapdesk_tests::strace::can_trace;
use tempfile::TempDir;

use super::launch;

/// A file system in this process (FUSE), like the clients of network and cloud drives. It has an
/// empty folder, creates nothing, and records every request to create something.
struct Drive {
    place: TempDir,
    made: Arc<Mutex<Vec<u32>>>,
}

/// Request numbers of the kernel, from `linux/fuse.h`.
mod request {
    pub(super) const FORGET: u32 = 2;
    pub(super) const GETATTR: u32 = 3;
    pub(super) const SYMLINK: u32 = 6;
    pub(super) const MKNOD: u32 = 8;
    pub(super) const MKDIR: u32 = 9;
    pub(super) const LOOKUP: u32 = 1;
    pub(super) const LINK: u32 = 13;
    pub(super) const STATFS: u32 = 17;
    pub(super) const INIT: u32 = 26;
    pub(super) const CREATE: u32 = 35;
    pub(super) const INTERRUPT: u32 = 36;
    pub(super) const BATCH_FORGET: u32 = 42;
}

const NOT_FOUND: i32 = -2;
const NOT_IMPLEMENTED: i32 = -38;

impl Drive {
    /// Mounts it. `None` if this machine does not allow that.
    fn mount() -> Option<Self> {
        let mut kernel = File::options()
            .read(true)
            .write(true)
            .open("/dev/fuse")
            .ok()?;
        let place = tempfile::tempdir().expect("a temporary folder can be made");
        let options = "fd=0,rootmode=40000,user_id=0,group_id=0,allow_other";
        let mounted = Command::new("mount")
            .args(["-i", "-t", "fuse.faraway", "-o", options, "faraway"])
            .arg(place.path())
            .stdin(Stdio::from(kernel.try_clone().expect("it is open")))
            .output();
        if !mounted.is_ok_and(|mounted| mounted.status.success()) {
            return None;
        }
        let made = Arc::<Mutex<Vec<u32>>>::default();
        let noted = Arc::clone(&made);
        std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 18];
            // The read fails once the drive is unmounted.
            while let Ok(length) = kernel.read(&mut buffer) {
                if let Some(answer) = answer(&buffer[..length], &noted) {
                    // The requesting process may be gone.
                    let _ = kernel.write(&answer);
                }
            }
        });
        Some(Self { place, made })
    }
}

impl Drop for Drive {
    fn drop(&mut self) {
        let mut unmount = Command::new("umount");
        let _ = unmount.arg("-l").arg(self.place.path()).status();
    }
}

/// The response to a request, which begins with its length, number and id.
fn answer(request: &[u8], made: &Mutex<Vec<u32>>) -> Option<Vec<u8>> {
    let number = u32::from_ne_bytes(request[4..8].try_into().expect("four bytes"));
    let zeros = |count: usize| vec![0; count];
    let (error, body) = match number {
        request::FORGET | request::BATCH_FORGET | request::INTERRUPT => return None,
        request::INIT => {
            let mut body = zeros(64);
            body[..4].copy_from_slice(&7_u32.to_ne_bytes());
            body[4..8].copy_from_slice(&31_u32.to_ne_bytes());
            // The largest write, in bytes.
            body[20..24].copy_from_slice(&4096_u32.to_ne_bytes());
            (0, body)
        }
        request::GETATTR => {
            let mut body = zeros(104);
            // The root's number, then the mode of a folder, and its number of names.
            body[16..24].copy_from_slice(&1_u64.to_ne_bytes());
            body[76..80].copy_from_slice(&0o40_777_u32.to_ne_bytes());
            body[80..84].copy_from_slice(&2_u32.to_ne_bytes());
            (0, body)
        }
        request::STATFS => (0, zeros(80)),
        request::LOOKUP => (NOT_FOUND, Vec::new()),
        request::SYMLINK | request::MKNOD | request::MKDIR | request::LINK | request::CREATE => {
            made.lock().expect("nobody panics with it").push(number);
            (NOT_IMPLEMENTED, Vec::new())
        }
        _ => (NOT_IMPLEMENTED, Vec::new()),
    };
    let length = u32::try_from(16 + body.len()).expect("it is short");
    let mut answer = length.to_ne_bytes().to_vec();
    answer.extend(i32::to_ne_bytes(error));
    answer.extend(&request[8..16]);
    answer.extend(body);
    Some(answer)
}

/// A start on the SQLite file at `database` that is refused. Returns its message.
async fn refused(launch: &Launch, database: &Path) -> String {
    let mut launch = launch.clone();
    launch.sqlite = Some(database.to_owned());
    let (status, said) = launch.start_in_vain().await;
    assert_eq!(status.code(), Some(1), "{said}");
    said
}

#[tokio::test]
async fn a_network_drive_is_refused_in_words_and_nothing_is_made_on_it() {
    let Some(drive) = Drive::mount() else {
        return skip("only root may mount a drive, and the kernel must have FUSE");
    };
    let launch = launch();
    let link = launch.folder.path().join("link");
    let file_link = launch.folder.path().join("tags.db");
    symlink(drive.place.path(), &link).unwrap();
    symlink(drive.place.path().join("tapdesk.db"), &file_link).unwrap();
    for database in [
        drive.place.path().join("tapdesk.db"),
        drive.place.path().join("not/yet/tapdesk.db"),
        link.join("tapdesk.db"),
        file_link.clone(),
    ] {
        let said = refused(&launch, &database).await;
        assert!(said.contains("network drive"), "{said}");
        assert!(said.contains("PostgreSQL"), "the way out: {said}");
        assert!(!said.contains("disk I/O error"), "{said}");
    }
    let made = drive.made.lock().expect("nobody panics with it").clone();
    assert_eq!(made, [] as [u32; 0]);
}

#[tokio::test]
async fn a_folder_that_a_cloud_program_copies_is_refused_in_words() {
    let launch = launch();
    let folder = launch.folder.path().join("Dropbox");
    std::fs::create_dir(&folder).unwrap();
    let said = refused(&launch, &folder.join("tags/tapdesk.db")).await;
    assert!(said.contains("cloud program"), "{said}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}

/// No list contains every drive: this one is tried out, and nothing is left on it.
#[tokio::test]
async fn a_drive_that_shares_no_memory_is_refused_in_words_and_left_empty() {
    if !can_trace() {
        return;
    }
    let launch = launch();
    let folder = launch.folder.path().join("drive");
    std::fs::create_dir(&folder).unwrap();
    let database = folder.join("tapdesk.db");
    let shared = format!("{}.new-shm", database.display());
    let refusing = [
        "-o",
        "/dev/null",
        "-P",
        &shared,
        "-e",
        "trace=mmap",
        "-e",
        "inject=mmap:error=ENODEV",
    ];
    let said = refused(&launch.clone().under_strace(&refusing), &database).await;
    assert!(said.contains("network drive"), "{said}");
    assert!(!said.contains("disk I/O error"), "{said}");
    let left: Vec<_> = std::fs::read_dir(&folder).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}
