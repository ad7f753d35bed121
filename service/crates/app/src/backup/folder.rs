//! Decides to which folders backups may go. A schedule writes and removes files for years, as the
//! user of the service, which may be root. So system folders are refused, and so are links that
//! other users can change.
//!
//! A link is accepted if root or this user made it, in a place where nobody else can replace it:
//! `/var` is one on macOS, `/home` on FreeBSD. The folder itself may not be a link, because its
//! name is shown in the settings. All of it is checked again before each backup. An attacker who
//! changes a path between this check and the write only gets a new file of mode 0600 in another
//! place, with content that they did not choose.

use std::ffi::OsString;
use std::fs::Metadata;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::BackupError;

/// System folders. Backups may not be inside them, at any depth.
const SYSTEM: [&str; 15] = [
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/proc",
    "/run",
    "/sbin",
    "/sys",
    "/usr",
    "/System",
    "/private/etc",
];
/// Exceptions below system folders: mount points of disks, and memory that programs use as a disk.
const DISKS: [&str; 2] = ["/run/media", "/dev/shm"];
/// Folders that contain other users' folders, and no files.
const SHARED: [&str; 3] = ["/", "/home", "/var"];

/// Refuses a folder to which backups must not go. The folder need not exist yet.
pub(super) fn check(folder: &Path) -> Result<(), BackupError> {
    let failed = |error| BackupError::File(folder.to_owned(), error);
    if folder.components().any(|part| part == Component::ParentDir) {
        return Err(BackupError::Parent(folder.to_owned()));
    }
    let folder: PathBuf = folder.components().collect();
    if is_system(&folder) {
        return Err(BackupError::System(folder));
    }
    for entry in folder.ancestors() {
        let Some(entry_is) = if_there(entry.symlink_metadata()).map_err(failed)? else {
            continue;
        };
        if entry_is.is_symlink()
            && (entry == folder || can_be_turned(entry, &entry_is).map_err(failed)?)
        {
            return Err(BackupError::Link(entry.to_owned()));
        }
    }
    let real = resolve(&folder).map_err(failed)?;
    if is_system(&real) {
        return Err(BackupError::System(real));
    }
    Ok(())
}

fn is_system(folder: &Path) -> bool {
    let is_below = |roots: &[&str]| roots.iter().any(|root| folder.starts_with(root));
    SHARED.iter().any(|shared| folder == Path::new(shared))
        || is_below(&SYSTEM) && !is_below(&DISKS)
        || DISKS.iter().any(|disks| folder == Path::new(disks))
}

/// The folder with all links resolved. Parts that do not exist yet are no links.
fn resolve(folder: &Path) -> io::Result<PathBuf> {
    let mut missing: Vec<OsString> = Vec::new();
    for there in folder.ancestors() {
        if let Some(real) = if_there(there.canonicalize())? {
            return Ok(missing
                .iter()
                .rev()
                .fold(real, |path, name| path.join(name)));
        }
        missing.extend(there.file_name().map(ToOwned::to_owned));
    }
    Ok(folder.to_owned())
}

fn if_there<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

/// Whether users other than root and this user can replace this link.
#[cfg(unix)]
fn can_be_turned(link: &Path, link_is: &Metadata) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    const OTHERS_WRITE: u32 = 0o022;
    const STICKY: u32 = 0o1000;
    // The owner of a new file is this user.
    let user = tempfile::tempfile()?.metadata()?.uid();
    let is_trusted = |owner: u32| owner == 0 || owner == user;
    let folder = link.parent().unwrap_or(link).metadata()?;
    let is_kept = folder.mode() & OTHERS_WRITE == 0
        || folder.mode() & STICKY != 0 && is_trusted(link_is.uid());
    Ok(!(is_trusted(folder.uid()) && is_kept))
}

/// On systems without such owners, no link is accepted.
#[cfg(not(unix))]
fn can_be_turned(_: &Path, _: &Metadata) -> io::Result<bool> {
    Ok(true)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn folders_of_the_system_are_refused() {
        for folder in [
            "/",
            "//",
            "/.",
            "/etc",
            "/etc/",
            "/etc/tapdesk",
            "/usr",
            "/usr/local/backups",
            "/proc",
            "/proc/self/cwd",
            "/sys/kernel",
            "/dev",
            "/dev/disk",
            "/boot/efi",
            "/run",
            "/run/user/0",
            "/run/media",
            "/dev/shm",
            "/bin",
            "/home",
            "/var",
        ] {
            let refused = check(Path::new(folder)).unwrap_err();
            assert!(
                matches!(refused, BackupError::System(_)),
                "{folder}: {refused}"
            );
        }
        for folder in ["/srv/../etc/backups", "/..", "/srv/x/.."] {
            let refused = check(Path::new(folder)).unwrap_err();
            assert!(
                matches!(refused, BackupError::Parent(_)),
                "{folder}: {refused}"
            );
        }
        for folder in [
            "/var/backups/tapdesk",
            "/srv/backups",
            "/mnt/disk",
            "/run/media/ada/disk/backups",
            "/home/ada/backups",
            "/backups",
            "/etcetera/backups",
        ] {
            check(Path::new(folder)).unwrap();
        }
    }

    #[test]
    fn a_link_is_followed_only_where_nobody_else_can_turn_it() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        let make = |name: &str, mode: u32| {
            let folder = place.join(name);
            std::fs::create_dir(&folder).unwrap();
            std::fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
            folder
        };
        let real = make("real", 0o755);
        for (name, mode, is_in_order) in [
            ("ours", 0o755, true),
            ("everyones", 0o777, false),
            ("groups", 0o775, false),
            ("sticky", 0o1777, true),
        ] {
            let link = make(name, mode).join("link");
            symlink(&real, &link).unwrap();
            // The folder itself may never be a link, even with an empty name or `.` after it.
            for folder in [link.clone(), link.join("."), link.join("")] {
                let refused = check(&folder).unwrap_err();
                assert!(refused.to_string().contains("symbolic link"), "{refused}");
            }
            for folder in [link.join("backups"), link.join("not/there/yet")] {
                assert_eq!(check(&folder).is_ok(), is_in_order, "{name}");
            }
        }
        let to_system = place.join("ours/system");
        symlink("/etc", &to_system).unwrap();
        let refused = check(&to_system.join("backups")).unwrap_err();
        assert!(matches!(refused, BackupError::System(_)), "{refused}");
        let nowhere = place.join("ours/nowhere");
        symlink("/not/there", &nowhere).unwrap();
        assert!(check(&nowhere).is_err());
    }
}
