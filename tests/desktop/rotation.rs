//! Rotation of the key that wraps secrets in the desktop: in the keychain, and in its file. After
//! any interruption, the next start finishes it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};
use tapdesk::keychain::{KeyStoreKind, Keychain, Secret, SecretStore};
use tapdesk::rotation::RotationPhase;
use tapdesk::shell::Shell;
use tapdesk::state::ProblemKind;
use tapdesk_service::inlay::key::{AesKey, Keys};
use tapdesk_service::inlay::virtual_inlay::VirtualInlay;
use tapdesk_service::inlay::{MacFrom, Mirror, Uid};
use zeroize::Zeroizing;

use crate::installation::{Installation, call, make_tag, problem, ready};

/// The variables that give a process its installation, and the step at which it is killed.
const FOLDER: &str = "TAPDESK_TEST_ROTATES_IN";
const KILL_AT: &str = "TAPDESK_TEST_KILLED_AT";
/// A step that is never reached.
const NEVER: u32 = u32::MAX;

/// A keychain that survives processes: one file per secret.
#[derive(Clone)]
struct Files {
    folder: PathBuf,
    /// The number of steps until the process is killed.
    left: Arc<AtomicU32>,
    /// The operation that fails, by the beginning of its name.
    refuses: Arc<Mutex<Option<&'static str>>>,
}

impl Files {
    fn of(installation: &Path) -> Self {
        let folder = installation.join("keychain");
        fs::create_dir_all(&folder).unwrap();
        Self {
            folder,
            left: Arc::new(AtomicU32::new(NEVER)),
            refuses: Arc::default(),
        }
    }

    fn refuse(&self, what: Option<&'static str>) {
        *self.refuses.lock().unwrap() = what;
    }

    /// Counts a step, and kills this process if it is the chosen one.
    fn step(&self) {
        let left = self.left.load(Ordering::SeqCst);
        if left == 0 {
            let pid = std::process::id().to_string();
            let _ = Command::new("kill").args(["-9", &pid]).status();
        } else if left != NEVER {
            self.left.store(left - 1, Ordering::SeqCst);
        }
    }

    fn asked(&self, what: &str) -> Result<(), String> {
        self.step();
        match *self.refuses.lock().unwrap() {
            Some(refused) if what.starts_with(refused) => Err("it is locked".to_owned()),
            _ => Ok(()),
        }
    }

    /// All secrets of the keychain, by name.
    fn all(&self) -> BTreeMap<String, String> {
        let files = fs::read_dir(&self.folder).unwrap().map(Result::unwrap);
        let secrets = files.map(|file| {
            let name = file.file_name().into_string().unwrap();
            (name, fs::read_to_string(file.path()).unwrap())
        });
        secrets.collect()
    }

    async fn start(&self, installation: &Installation) -> Arc<Shell> {
        let keychain = Keychain::new(self.clone(), Duration::from_secs(30));
        installation.start_with(keychain).await
    }
}

impl SecretStore for Files {
    fn get(&self, name: &str) -> Result<Option<Secret>, String> {
        self.asked(&format!("get {name}"))?;
        let found = fs::read_to_string(self.folder.join(name));
        Ok(found.ok().map(Zeroizing::new))
    }
    fn set(&self, name: &str, secret: &str) -> Result<(), String> {
        self.asked(&format!("set {name}"))?;
        fs::write(self.folder.join(name), secret).map_err(|error| error.to_string())?;
        // Killed after the operation, but before its answer.
        self.asked("answer")
    }
    fn remove(&self, name: &str) -> Result<(), String> {
        self.asked(&format!("remove {name}"))?;
        fs::remove_file(self.folder.join(name)).map_err(|error| error.to_string())?;
        self.asked("answer")
    }
}

/// A tag and its chip.
struct Bottle {
    slug: String,
    chip: VirtualInlay,
}

impl Bottle {
    /// Creates them, and secrets in other tables.
    async fn make(shell: &Shell) -> Self {
        let id = make_tag(shell, "Bottle 41").await;
        let inlay = json!({
            "uid": "04DE5F1EACC040", "technology": "ntag424dna", "mirror": "plain",
            "mac_from": "none", "file_key": "5A".repeat(16), "tag_id": id,
        });
        let hook = json!({"url": "https://hooks.example/", "events": ["tap.verified"]});
        for (path, body) in [("inlays", inlay), ("webhooks", hook)] {
            let path = format!("/admin/v1/{path}");
            let (status, made) = call(shell, Method::POST, &path, body).await;
            assert_eq!(status, 201, "{made}");
        }
        let path = format!("/admin/v1/tags/{id}");
        let (_, tag) = call(shell, Method::GET, &path, Value::Null).await;
        let chip = VirtualInlay {
            uid: Uid::from_bytes([0x04, 0xDE, 0x5F, 0x1E, 0xAC, 0xC0, 0x40]),
            mirror: Mirror::Plain,
            mac_from: MacFrom::None,
            keys: Keys {
                meta: None,
                file: AesKey::from_bytes([0x5A; 16]),
            },
            counter: 0,
        };
        Self {
            slug: tag["slug"].as_str().unwrap().to_owned(),
            chip,
        }
    }

    /// Whether the chip's codes verify, which means that its keys can be decrypted.
    async fn verifies(&self, shell: &Shell) -> bool {
        let code = self.chip.code_at(1, [0; 5]);
        let url = code.url(&ready(shell).tag_url, &self.slug);
        let asked = json!({"url": url});
        let path = "/admin/v1/verification";
        let (status, verdict) = call(shell, Method::POST, path, asked).await;
        assert_eq!(status, 200, "{verdict}");
        verdict["tag_verified"] == true
    }
}

/// Rotates in a separate process that is killed at this step. Returns whether it was killed.
fn killed(folder: &Path, step: u32) -> bool {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture"])
        .arg("rotation::wherever_the_desktop_is_killed_its_next_start_finishes_the_rotation")
        .env(FOLDER, folder)
        .env(KILL_AT, step.to_string())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    // A process that was killed has no exit code.
    assert!(matches!(output.status.code(), None | Some(0)), "{said}");
    output.status.code().is_none()
}

/// The work of the process that is killed.
async fn rotate_and_be_killed(folder: &Path, step: u32) {
    let installation = Installation::at(folder);
    let keychain = Files::of(folder);
    let shell = keychain.start(&installation).await;
    keychain.left.store(step, Ordering::SeqCst);
    let stepped = keychain.clone();
    shell.rotate_key(move |_| stepped.step()).await.unwrap();
    keychain.left.store(NEVER, Ordering::SeqCst);
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wherever_the_desktop_is_killed_its_next_start_finishes_the_rotation() {
    if let (Ok(folder), Ok(step)) = (std::env::var(FOLDER), std::env::var(KILL_AT)) {
        return rotate_and_be_killed(Path::new(&folder), step.parse().unwrap()).await;
    }
    let installation = Installation::new();
    let keychain = Files::of(installation.folder());
    let shell = keychain.start(&installation).await;
    assert_eq!(ready(&shell).key_store.kind, KeyStoreKind::Keychain);
    let bottle = Bottle::make(&shell).await;
    shell.stop().await;
    let mut step = 0;
    while killed(installation.folder(), step) {
        let shell = keychain.start(&installation).await;
        assert_eq!(
            ready(&shell).key_store.kind,
            KeyStoreKind::Keychain,
            "{step}"
        );
        assert!(bottle.verifies(&shell).await, "{step}");
        shell.stop().await;
        step += 1;
    }
    // Both keys, before and after each operation of the keychain, and every commit.
    assert!(step > 15, "{step}");
    let shell = keychain.start(&installation).await;
    assert!(bottle.verifies(&shell).await);
    shell.stop().await;
    let kept = keychain.all();
    assert!(!kept.contains_key("inlay-key.next"), "{:?}", kept.keys());
    // No former key is lost, because older backups may need it.
    let present = &kept["inlay-key"];
    let former: Vec<_> = kept
        .iter()
        .filter(|(name, _)| *name != "inlay-key")
        .collect();
    assert!(!former.is_empty());
    assert!(former.iter().all(|(_, key)| *key != present));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_key_in_the_keychain_is_replaced_and_the_former_one_kept() {
    let installation = Installation::new();
    let keychain = Files::of(installation.folder());
    let shell = keychain.start(&installation).await;
    let bottle = Bottle::make(&shell).await;
    let former = keychain.all()["inlay-key"].clone();
    let mut phases = Vec::new();
    let rotated = shell.rotate_key(|shown| {
        assert!(shown.done <= shown.total, "{shown:?}");
        phases.push(shown.phase);
    });
    assert_eq!(rotated.await, Ok(()));
    phases.dedup();
    let all = [
        RotationPhase::Checking,
        RotationPhase::Wrapping,
        RotationPhase::Erasing,
    ];
    assert_eq!(phases, all);
    assert!(bottle.verifies(&shell).await);
    let kept = keychain.all();
    assert_ne!(kept["inlay-key"], former);
    let aside = kept.iter().filter(|(_, key)| **key == former);
    let aside: Vec<_> = aside.map(|(name, _)| name.as_str()).collect();
    assert!(matches!(aside[..], [name] if name.starts_with("inlay-key.replaced-at-")));
    let path = "/admin/v1/audit?action=keyring.rotate";
    let (_, audit) = call(&shell, Method::GET, path, Value::Null).await;
    assert_eq!(audit["items"][0]["actor"]["kind"], "desktop", "{audit}");
    shell.stop().await;
    assert!(!installation.folders().key_file().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_keychain_that_refuses_changes_nothing_or_is_asked_again_at_the_next_start() {
    let installation = Installation::new();
    let keychain = Files::of(installation.folder());
    let shell = keychain.start(&installation).await;
    let bottle = Bottle::make(&shell).await;
    let before = keychain.all();
    keychain.refuse(Some("set inlay-key.next"));
    let refused = shell.rotate_key(drop).await.unwrap_err();
    assert!(refused.contains("keychain cannot be used"), "{refused}");
    assert_eq!(keychain.all(), before);
    assert!(bottle.verifies(&shell).await);

    // Every secret uses the new key, which cannot replace the former one.
    keychain.refuse(Some("set inlay-key.replaced"));
    let refused = shell.rotate_key(drop).await.unwrap_err();
    assert!(refused.contains("Nothing is lost"), "{refused}");
    assert_eq!(problem(&shell).kind, ProblemKind::Keys);
    assert!(shell.backend().await.is_none());
    shell.start().await;
    assert_eq!(problem(&shell).kind, ProblemKind::Keys);
    keychain.refuse(None);
    shell.start().await;
    assert!(bottle.verifies(&shell).await);
    assert_ne!(keychain.all()["inlay-key"], before["inlay-key"]);
    shell.stop().await;

    keychain.refuse(Some("get"));
    let shell = keychain.start(&installation).await;
    assert_eq!(ready(&shell).key_store.kind, KeyStoreKind::Locked);
    let refused = shell.rotate_key(drop).await.unwrap_err();
    assert!(refused.contains("are locked"), "{refused}");
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_keychain_the_key_file_is_replaced() {
    let installation = Installation::new();
    let shell = installation.ready().await;
    let bottle = Bottle::make(&shell).await;
    let file = installation.folders().key_file();
    let former = fs::read(&file).unwrap();
    assert_eq!(shell.rotate_key(drop).await, Ok(()));
    assert!(bottle.verifies(&shell).await);
    assert_eq!(ready(&shell).key_store.kind, KeyStoreKind::File);
    assert_ne!(fs::read(&file).unwrap(), former);
    let beside = fs::read_dir(installation.folder()).unwrap();
    let kept = beside.map(Result::unwrap).filter(|entry| {
        let name = entry.file_name().into_string().unwrap();
        name.starts_with("inlay.key.replaced-at-") && fs::read(entry.path()).unwrap() == former
    });
    assert_eq!(kept.count(), 1);
    shell.stop().await;
}
