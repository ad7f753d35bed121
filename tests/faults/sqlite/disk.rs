//! A full disk: a tmpfs of 2 MB in a separate mount namespace.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::path::PathBuf;

use reqwest::Method;
use serde_json::json;
use tapdesk_tests::{
    Answering as _, Launch, PATIENCE, ServiceProcess, TapResult, TestTag, eventually, skip,
};

use super::launch;

/// A launch whose folder is a small disk. `None` if this machine does not allow such a disk.
fn on_a_small_disk() -> Option<Launch> {
    const MOUNT: &str = r#"mount -t tmpfs -o size=2m,mode=700 tapdesk "$0" && exec "$@""#;
    let mut launch = launch();
    let folder = launch.folder.path().to_string_lossy().into_owned();
    let apart = [
        "unshare",
        "--mount",
        "--propagation",
        "private",
        "sh",
        "-c",
        MOUNT,
        &folder,
    ];
    let possible = std::process::Command::new(apart[0])
        .args(&apart[1..])
        .arg("true")
        .output();
    if !possible.is_ok_and(|output| output.status.success()) {
        skip("only root can mount a small disk, in a mount namespace of its own");
        return None;
    }
    launch.command.splice(0..0, apart.map(str::to_owned));
    Some(launch)
}

/// A file that fills the process's disk.
struct Filler(PathBuf);

impl Filler {
    fn fill(service: &ServiceProcess) -> Self {
        let folder = service
            .folder()
            .strip_prefix("/")
            .expect("an absolute path");
        let root = PathBuf::from(format!("/proc/{}/root", service.pid()));
        let filler = Self(root.join(folder).join("filler"));
        let mut file = File::create(&filler.0).expect("the file can be created");
        // To the last byte, because a page that is half free is room.
        for size in [65_536, 4_096, 1] {
            while file.write_all(&vec![0; size]).is_ok() {}
        }
        filler
    }

    fn free(self) {
        std::fs::remove_file(self.0).expect("the file can be removed");
    }
}

/// Taps until the disk is full. Returns the URL and the response of the first tap without room.
async fn tap_until_full(
    service: &ServiceProcess,
    mut url: impl FnMut() -> String,
) -> (String, TapResult) {
    for _ in 0..2_000 {
        let url = url();
        let tap = service.tap(&url).await;
        assert!(
            tap.status == 302 || tap.status == 507,
            "{}",
            tap.answer.body
        );
        if tap.rk.is_none() {
            return (url, tap);
        }
    }
    panic!("the disk is never full");
}

#[tokio::test]
async fn on_a_full_disk_reads_and_redirects_go_on_writes_get_507_and_it_recovers_by_itself() {
    let Some(launch) = on_a_small_disk() else {
        return;
    };
    let service = launch.start().await;
    let (tag, mut inlay) = service.bottle().await;
    let studio = studio(&service).await;
    let held = service.tap(&inlay.url(&tag)).await;
    let data = json!({"registered": "true"});

    let filler = Filler::fill(&service);
    let (unrecorded, answer) = tap_until_full(&service, || inlay.url(&tag)).await;

    assert_eq!(answer.status, 302, "the tap redirects without rk");
    assert_eq!(
        answer.location.as_deref(),
        Some("https://owner.example/landing")
    );
    assert_eq!(answer.cookie, None);
    let page = service.tap(&studio.path()).await;
    assert_eq!((page.status, page.cookie), (507, None));
    assert!(
        page.answer.body.contains("tap again"),
        "{}",
        page.answer.body
    );
    assert!(service.payload(held.key()).await.is_object());
    let update = service.update(held.key(), data.clone()).await;
    assert_eq!(update.status, 507, "{}", update.body);
    assert_eq!(update.json()["error"], json!(true));
    let create = service
        .admin(Method::POST, "/tags", json!({"name": "More"}))
        .await;
    assert_eq!(create.status, 507, "{}", create.body);
    assert_eq!(
        create.header("content-type"),
        Some("application/problem+json")
    );
    assert_eq!(service.get("/health").answer().await.status, 200);
    // It stays ready, because reading still works.
    eventually("it is ready", async || {
        (service.get("/ready").answer().await.status == 200).then_some(())
    })
    .await;
    let shown = service.admin_get(&tag.admin_path()).await;
    assert_eq!(shown["variables"], json!({"registered": "false"}));

    filler.free();
    service.update(held.key(), data).await.expect(200);
    let tap = service.tap(&unrecorded).await;
    let payload = service.payload(tap.key()).await;
    assert_eq!(
        payload["tag_verified"],
        json!(true),
        "its counter had not moved"
    );
    assert_eq!(service.tap(&studio.path()).await.status, 200);
}

/// Folding repeatedly finds no room: the counts stay exact.
#[tokio::test]
async fn a_fold_on_a_full_disk_loses_no_count_and_goes_on_when_there_is_room() {
    let Some(launch) = on_a_small_disk() else {
        return;
    };
    let launch = launch
        .env("TAPDESK_TEST_CLOCK", "1")
        .env("TAPDESK_TEST_FOLD", "1");
    let service = launch.start().await;
    let (tag, mut inlay) = service.bottle().await;
    let mut recorded = 0;
    for round in 1..=2 {
        let filler = Filler::fill(&service);
        let (unrecorded, _) = tap_until_full(&service, || {
            recorded += 1;
            inlay.url(&tag)
        })
        .await;
        recorded -= 1;
        assert_eq!(service.scan_count(&tag).await, recorded, "round {round}");
        filler.free();
        let tap = service.tap(&unrecorded).await;
        assert!(tap.rk.is_some(), "there is room");
        recorded += 1;
        assert_eq!(service.scan_count(&tag).await, recorded, "round {round}");
    }
    let stats = service.admin_get("/stats").await;
    assert_eq!(stats["totals"]["verified"], json!(recorded));
    let reported = service.launch().log();
    let reported = reported.matches("their counts are written later").count();
    assert!(
        reported <= 2,
        "told once for each time that there was no room: {reported}"
    );
    // Everything is folded: the counts are only in the rows.
    assert!(service.terminate().await.success());
}

/// The service's folder: while this is open, it survives the mount namespace of its process.
struct HeldFolder(File);

impl HeldFolder {
    fn of(service: &ServiceProcess) -> Self {
        let folder = service.folder();
        let folder = folder.strip_prefix("/").expect("an absolute path");
        let root = PathBuf::from(format!("/proc/{}/root", service.pid()));
        Self(File::open(root.join(folder)).expect("the folder can be opened"))
    }

    /// Copies its files to the folder of `launch`, which is on a larger disk.
    fn copy_to(&self, launch: &Launch) {
        let folder = format!("/proc/self/fd/{}", self.0.as_raw_fd());
        for entry in std::fs::read_dir(folder).expect("the folder can be read") {
            let entry = entry.expect("the folder can be read");
            if entry.file_name() != "filler" {
                let copy = launch.folder.path().join(entry.file_name());
                std::fs::copy(entry.path(), copy).expect("the file can be copied");
            }
        }
    }
}

/// Without room nothing can be folded: a backup and the shutdown report that, and do not wait for
/// ever.
#[tokio::test]
async fn on_a_full_disk_a_backup_and_the_end_say_that_counts_are_not_written_and_lose_none() {
    let Some(launch) = on_a_small_disk() else {
        return;
    };
    let unfolded = [
        ("TAPDESK_TEST_CLOCK", "1"),
        ("TAPDESK_TEST_FOLD", "3600000"),
    ];
    let with = |launch: Launch| {
        let variables = unfolded.iter();
        variables.fold(launch, |launch, (name, value)| launch.env(name, value))
    };
    let service = with(launch).start().await;
    let (tag, mut inlay) = service.bottle().await;
    let folder = HeldFolder::of(&service);
    let mut recorded = 3;
    for _ in 0..recorded {
        service.tap(&inlay.url(&tag)).await;
    }
    let filler = Filler::fill(&service);
    let (unrecorded, _) = tap_until_full(&service, || {
        recorded += 1;
        inlay.url(&tag)
    })
    .await;
    recorded -= 1;

    let backup = service.admin(Method::POST, "/backup", json!({}));
    let backup = tokio::time::timeout(PATIENCE, backup);
    let backup = backup.await.expect("a backup answers");
    assert_eq!(backup.status, 507, "{}", backup.body);
    assert_eq!(service.scan_count(&tag).await, recorded);
    let before = service.launch().log().len();
    let launch = service.launch().clone();
    // The folder stays full.
    drop(filler);
    assert!(service.terminate().await.success());
    let said = launch.log().split_off(before);
    assert!(said.contains("counts were not written"), "{said}");

    let roomy = with(super::launch());
    folder.copy_to(&roomy);
    let service = roomy.start().await;
    assert_eq!(service.scan_count(&tag).await, recorded);
    assert!(service.tap(&unrecorded).await.rk.is_some(), "there is room");
    assert_eq!(service.scan_count(&tag).await, recorded + 1);
    assert!(service.terminate().await.success());
}

/// A launch on a small disk that is full but for `room` KiB when the service starts. Its database was
/// created while there was room.
fn on_a_disk_that_is_full(room: u32) -> Option<Launch> {
    const MADE_AND_FILLED: &str = r#"
        mount -t tmpfs -o size=2m,mode=700 tapdesk "$0" || exit
        : >"$0/said"
        "$@" >"$0/said" & first=$!
        until grep -q listening "$0/said"; do kill -0 "$first" || exit; sleep 0.05; done
        kill -TERM "$first"; wait "$first"
        cat /dev/zero >"$0/filler" 2>/dev/null
        truncate -s -ROOM "$0/filler"
        exec "$@""#;
    let mut launch = on_a_small_disk()?;
    let mut parts = launch.command.iter_mut();
    let script = parts.find(|part| part.contains("mount "));
    *script.expect("the script that mounts the disk") =
        MADE_AND_FILLED.replace("ROOM", &format!("{room}K"));
    Some(launch)
}

#[tokio::test]
async fn a_service_that_starts_on_a_full_disk_knows_so_before_it_listens() {
    // Room to open the database (32 KiB are shared memory), and none to write to it.
    let Some(launch) = on_a_disk_that_is_full(36) else {
        return;
    };
    let service = launch.start().await;
    let said = launch.log();
    assert!(said.contains("the disk is full"), "{said}");
    let create = service.admin(Method::POST, "/tags", json!({"name": "More"}));
    assert_eq!(create.await.status, 507);
    assert_eq!(service.tap("/t/nobody-knows").await.status, 404);
}

#[tokio::test]
async fn a_database_without_room_to_open_it_is_refused_in_words() {
    let Some(launch) = on_a_disk_that_is_full(0) else {
        return;
    };
    let (status, said) = launch.start_in_vain().await;
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("the disk is full. Make room"), "{said}");
}

/// A launch whose token is to be written to a disk without room.
fn with_a_token_on_a_full_disk() -> Option<Launch> {
    const FILLED: &str = r#"
        mkdir "$0/small" && mount -t tmpfs -o size=64k,mode=700 tapdesk "$0/small" || exit
        cat /dev/zero >"$0/small/filler" 2>/dev/null
        "$@"; status=$?
        [ ! -e "$0/small/admin.token" ] || echo "an empty token stays" >&2
        exit $status"#;
    let mut launch = on_a_small_disk()?;
    launch.token_in_environment = false;
    let file = launch.folder.path().join("small/admin.token");
    let mut parts = launch.command.iter_mut();
    let script = parts.find(|part| part.contains("mount "));
    FILLED.clone_into(script.expect("the script that mounts the disk"));
    Some(launch.env("TAPDESK_TOKEN_FILE", file.to_str().expect("text")))
}

#[tokio::test]
async fn a_token_without_room_leaves_no_empty_file() {
    let Some(launch) = with_a_token_on_a_full_disk() else {
        return;
    };
    let (status, said) = launch.start_in_vain().await;
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("admin.token cannot be used"), "{said}");
    assert!(!said.contains("stays"), "{said}");
}

async fn studio(service: &ServiceProcess) -> TestTag {
    let studio = service
        .experience(json!({
            "name": "Welcome", "kind": "studio", "blocks": [{"type": "text", "text": "Hello"}],
        }))
        .await;
    service
        .redirecting_tag(json!({"experience_id": studio, "variables": {}}))
        .await
}
