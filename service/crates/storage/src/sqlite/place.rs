//! Where a database may be stored. SQLite's log needs memory that all its readers share, and locks
//! that hold. A network drive has neither, and a program that copies a folder to other machines
//! copies half of a commit.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::OpenError;
use domain::private_file;

/// Why a place is unfit for a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// Its files are on another machine, or on a file system in user space that is not known to be
    /// local.
    NetworkDrive,
    /// A program copies its files to other machines.
    Synced,
}

/// Refuses a place that is unfit for the database at `path`. It writes nothing there.
pub(super) fn check(path: &Path) -> Result<(), OpenError> {
    let Some(folder) = nearest_folder(path) else {
        return Ok(());
    };
    let unfit = if is_on_network(&folder) {
        Unfit::NetworkDrive
    } else if is_synced(&folder) {
        Unfit::Synced
    } else {
        return Ok(());
    };
    Err(OpenError::Unfit(path.to_owned(), unfit))
}

/// Like `check`, and also creates the folder of the database if it is missing.
pub fn make_place(path: &Path) -> Result<(), OpenError> {
    check(path)?;
    private_file::make_folder_of(path).map_err(|error| OpenError::Io(path.to_owned(), error))
}

/// The folder of the database at `path`.
pub(super) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent();
    let named = folder.filter(|folder| !folder.as_os_str().is_empty());
    named.unwrap_or(Path::new("."))
}

/// The free bytes on the disk of the database at `path`; `None` if the system does not say.
#[cfg(unix)]
pub fn free_space(path: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(path).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// The free bytes on the disk of the database at `path`, which this system does not say.
#[cfg(not(unix))]
pub fn free_space(_: &Path) -> Option<u64> {
    None
}

/// Whether SQLite's `error` means that the drive of its database cannot share memory, or cannot
/// lock.
pub(super) fn says_unfit(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi;
    let codes = [
        ffi::SQLITE_IOERR_SHMOPEN,
        ffi::SQLITE_IOERR_SHMMAP,
        ffi::SQLITE_IOERR_SHMLOCK,
        ffi::SQLITE_IOERR_LOCK,
        ffi::SQLITE_IOERR_RDLOCK,
        ffi::SQLITE_IOERR_UNLOCK,
        ffi::SQLITE_IOERR_CHECKRESERVEDLOCK,
    ];
    error
        .sqlite_error()
        .is_some_and(|error| codes.contains(&error.extended_code))
}

/// The folder of `path` without links, or the nearest existing folder above it.
fn nearest_folder(path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().or_else(|_| std::path::absolute(path));
    let path = path.ok()?;
    path.ancestors().find_map(|above| {
        let folder = above.canonicalize().ok()?;
        folder.is_dir().then_some(folder)
    })
}

/// Whether `folder`, or one above it, has the marks of a program that synchronises folders.
fn is_synced(folder: &Path) -> bool {
    // The names that these programs give their folders.
    let names = [
        "Dropbox",
        "Google Drive",
        "GoogleDrive",
        "iCloudDrive",
        "Nextcloud",
        "OneDrive",
        "ownCloud",
    ];
    // On macOS: folders of Finder's providers, and of iCloud.
    let inside_of = ["Library/CloudStorage", "Library/Mobile Documents"];
    let marks = [
        ".dropbox.cache",
        ".stfolder",
        ".nextcloudsync.log",
        ".owncloudsync.log",
    ];
    folder.ancestors().any(|above| {
        let name = above.file_name().and_then(OsStr::to_str).unwrap_or("");
        names.contains(&name)
            || name.starts_with("OneDrive - ")
            || inside_of.iter().any(|end| above.ends_with(end))
            || marks.iter().any(|mark| above.join(mark).exists())
            || has_journal_of_nextcloud(above)
    })
}

/// Whether the folder has the journal of Nextcloud's client: `.sync_0123456789ab.db`, or
/// `._sync_...` on systems other than Windows.
fn has_journal_of_nextcloud(folder: &Path) -> bool {
    let Ok(mut entries) = folder.read_dir() else {
        return false;
    };
    entries.any(|entry| {
        let name = entry.map(|entry| entry.file_name());
        name.is_ok_and(|name| {
            let name = name.to_string_lossy();
            let journal = name.strip_suffix(".db");
            journal.is_some_and(|name| name.starts_with(".sync_") || name.starts_with("._sync_"))
        })
    })
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_on_network(folder: &Path) -> bool {
    /// File system types: numbers from Linux's `magic.h`, or else from the modules' own sources.
    const REMOTE: [u32; 18] = [
        0xFF53_4D42, // CIFS
        0xFE53_4D42, // SMB 2
        0x0000_517B, // SMB
        0x0000_6969, // NFS
        0x0102_1997, // 9P
        0x00C3_6400, // Ceph
        0x5346_414F, // OpenAFS
        0x6B41_4653, // AFS
        0x7375_7245, // Coda
        0x0000_564C, // NCP
        0x0BD0_0BD0, // Lustre
        0x4750_4653, // GPFS
        0x1983_0326, // BeeGFS
        0xAAD7_AAEA, // PanFS
        0x2003_0528, // OrangeFS
        0x7461_636F, // OCFS2
        0x0116_1970, // GFS2
        0x786F_4256, // a folder of VirtualBox's host
    ];
    const FUSE: u32 = 0x6573_5546;
    let Ok(found) = rustix::fs::statfs(folder) else {
        return false;
    };
    // The number has 32 bits, but its type depends on the machine.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "file systems are numbered in 32 bits"
    )]
    let magic = found.f_type as u32;
    REMOTE.contains(&magic) || magic == FUSE && !is_local_fuse(folder)
}

/// Whether a file system in user space is known to keep its files on this machine. A later test
/// shows whether it shares memory.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_local_fuse(folder: &Path) -> bool {
    const LOCAL: [&str; 9] = [
        "fuseblk",
        "virtiofs",
        "fuse.bindfs",
        "fuse.cryfs",
        "fuse.encfs",
        "fuse.fuse-overlayfs",
        "fuse.gocryptfs",
        "fuse.lxcfs",
        "fuse.mergerfs",
    ];
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    LOCAL.contains(&type_of_mount(&mounts, folder).unwrap_or_default())
}

/// The type of the file system that contains `folder`, from the lines of `mountinfo` (proc(5)): id,
/// parent, device, root, mount point, options, and after a dash the type.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn type_of_mount<'a>(mounts: &'a str, folder: &Path) -> Option<&'a str> {
    let mounts = mounts.lines().filter_map(|line| {
        let (mount, source) = line.split_once(" - ")?;
        let place = mount.split(' ').nth(4)?;
        // Spaces and backslashes in a name are written as octal numbers.
        let place = place.replace("\\040", " ").replace("\\134", "\\");
        let kind = source.split(' ').next()?;
        folder.starts_with(&place).then_some((place.len(), kind))
    });
    // The innermost mount counts; of several at one place, the last, which hides the others.
    mounts.max_by_key(|(depth, _)| *depth).map(|(_, kind)| kind)
}

/// Whether the folder is a path on another machine. A drive letter for such a path resolves to it
/// when links are followed.
#[cfg(windows)]
fn is_on_network(folder: &Path) -> bool {
    use std::path::{Component, Prefix};
    matches!(
        folder.components().next(),
        Some(Component::Prefix(prefix))
            if matches!(prefix.kind(), Prefix::UNC(..) | Prefix::VerbatimUNC(..))
    )
}

#[cfg(not(any(target_os = "linux", target_os = "android", windows)))]
fn is_on_network(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_a_cloud_program_copies_is_refused_by_its_name_or_its_marks() {
        let root = tempfile::tempdir().unwrap();
        for (folder, mark, refused) in [
            ("Dropbox", None, true),
            ("OneDrive - Vineyard/tags", None, true),
            ("Library/CloudStorage/GoogleDrive-a@b.example", None, true),
            ("mine", Some(".stfolder"), true),
            ("files", Some("._sync_0123456789ab.db"), true),
            ("more", Some(".dropbox.cache"), true),
            ("dropbox", None, false),
            ("sync", Some("sync_1.db"), false),
            ("plain", None, false),
        ] {
            let folder = root.path().join(folder);
            std::fs::create_dir_all(&folder).unwrap();
            if let Some(mark) = mark {
                std::fs::write(folder.join(mark), "").unwrap();
            }
            for path in ["tapdesk.db", "not/yet/tapdesk.db"] {
                let checked = check(&folder.join(path));
                let unfit = matches!(checked, Err(OpenError::Unfit(_, Unfit::Synced)));
                assert_eq!(unfit, refused, "{}", folder.display());
            }
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_innermost_mount_says_of_which_type_a_folder_is() {
        let mounts = "\
            22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
            40 22 0:40 / /home/ada/far\\040away rw - fuse.sshfs ada@host: rw\n\
            41 22 8:2 / /home/ada rw - fuseblk /dev/sdb1 rw\n";
        for (folder, kind) in [
            ("/home/ada/far away/x", "fuse.sshfs"),
            ("/home/ada/far", "fuseblk"),
            ("/srv", "ext4"),
        ] {
            assert_eq!(type_of_mount(mounts, Path::new(folder)), Some(kind));
        }
    }
}
