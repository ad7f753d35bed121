//! Backups through the shell: the database, and its key, from a file or a bucket.

use std::fs;
use std::path::PathBuf;

use axum::http::{Method, Request};
use serde_json::{Value, json};
use tapdesk::bucket::BucketForm;
use tapdesk::shell::Shell;
use tapdesk::state::ProblemKind;
use tapdesk_tests::Moto;
use tapdesk_tests::moto::{ACCESS_KEY, SECRET};
use tokio::sync::oneshot;
use zeroize::Zeroizing;

use crate::installation::{Installation, call, make_tag, problem, tag_names};

const PASSPHRASE: &str = "correct horse battery";
const OLDER: &str = "tapdesk-20260101T120000Z.backup";
const NEWER: &str = "tapdesk-20260102T120000Z.backup";

fn passphrase(text: &str) -> Zeroizing<String> {
    Zeroizing::new(text.to_owned())
}

/// Saves a backup like the settings screen.
async fn back_up(shell: &Shell, installation: &Installation, options: Value) -> PathBuf {
    let backend = shell.backend().await.unwrap();
    let request = Request::post("tapdesk://localhost/admin/v1/backup")
        .header("content-type", "application/json")
        .body(options.to_string().into_bytes())
        .unwrap();
    let response = backend.request(request).await;
    assert_eq!(response.status(), 200);
    let file = installation.folder().join("shop.backup");
    fs::write(&file, response.body()).unwrap();
    file
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_takes_the_place_of_the_present_database_which_is_kept() {
    let installation = Installation::new();
    let shell = installation.ready().await;
    make_tag(&shell, "Before").await;
    let backup = back_up(&shell, &installation, json!({})).await;
    make_tag(&shell, "After").await;

    let name = shell.restore(backup, passphrase("")).await.unwrap();
    assert_eq!(name, "shop.backup");
    assert_eq!(tag_names(&shell).await, ["Before"]);
    // Its log is included, if something still read the file when it was closed.
    let is_aside = |name: &str| {
        let moment = name.strip_prefix("tapdesk.db.replaced-at-");
        moment.is_some_and(|moment| moment.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let files = fs::read_dir(installation.folder()).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| is_aside(name)).count(), 1);
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_installation_is_restored_from_a_backup_with_its_inlays_key() {
    let shop = Installation::new();
    let shell = shop.ready().await;
    let id = make_tag(&shell, "Bottle 41").await;
    let inlay = json!({
        "uid": "04DE5F1EACC040", "technology": "ntag424dna", "mirror": "plain",
        "mac_from": "none", "file_key": "00112233445566778899AABBCCDDEEFF", "tag_id": id,
    });
    let (status, _) = call(&shell, Method::POST, "/admin/v1/inlays", inlay).await;
    assert_eq!(status, 201);
    let backup = back_up(&shell, &shop, json!({"passphrase": PASSPHRASE})).await;
    shell.stop().await;

    let elsewhere = Installation::new();
    fs::write(elsewhere.folders().database, b"").unwrap();
    let shell = elsewhere.start().await;
    assert_eq!(problem(&shell).kind, ProblemKind::Damaged);
    for wrong in ["", "battery staple horse"] {
        let refused = shell.restore(backup.clone(), passphrase(wrong)).await;
        assert!(refused.unwrap_err().contains("passphrase"));
        assert_eq!(
            problem(&shell).kind,
            ProblemKind::Damaged,
            "nothing was changed"
        );
    }
    shell.restore(backup, passphrase(PASSPHRASE)).await.unwrap();
    assert_eq!(tag_names(&shell).await, ["Bottle 41"]);
    let key = |installation: &Installation| fs::read(installation.folders().key_file()).unwrap();
    assert_eq!(key(&elsewhere), key(&shop));
    let (_, inlays) = call(&shell, Method::GET, "/admin/v1/inlays", Value::Null).await;
    assert_eq!(inlays["items"][0]["uid"], "04DE5F1EACC040");
    assert!(inlays["items"][0]["file_key_check"].is_string(), "{inlays}");
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_no_backup_changes_nothing() {
    let installation = Installation::new();
    let shell = installation.ready().await;
    make_tag(&shell, "Bottle 41").await;
    let file = installation.folder().join("holiday.jpg");
    fs::write(&file, "no backup").unwrap();
    let refused = shell.restore(file, passphrase("")).await.unwrap_err();
    assert!(refused.contains("holiday.jpg"), "{refused}");
    assert_eq!(tag_names(&shell).await, ["Bottle 41"]);
    shell.stop().await;
}

/// A shop with one tag, and its backup with the key.
async fn backed_up_shop() -> (Installation, Vec<u8>) {
    let shop = Installation::new();
    let shell = shop.ready().await;
    make_tag(&shell, "Bottle 41").await;
    let backup = back_up(&shell, &shop, json!({"passphrase": PASSPHRASE})).await;
    shell.stop().await;
    let content = fs::read(backup).unwrap();
    (shop, content)
}

/// The form of a person who lost a computer, and with it every setting.
fn typed(moto: &Moto, path: &str) -> BucketForm {
    BucketForm {
        path: path.to_owned(),
        endpoint: format!("http://127.0.0.1:{}", moto.port),
        region: String::new(),
        access_key: ACCESS_KEY.to_owned(),
        secret: SECRET.to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_in_a_bucket_is_chosen_and_restored_on_another_computer() {
    let (shop, content) = backed_up_shop().await;
    let moto = Moto::start().await;
    for name in [OLDER, NEWER, "notes.txt"] {
        moto.write(&format!("backups/shop/{name}"), content.clone())
            .await;
    }

    let elsewhere = Installation::new();
    let shell = elsewhere.ready().await;
    make_tag(&shell, "Other").await;
    let one = format!("s3://backups/shop/{OLDER}");
    for path in ["s3://backups/shop", " s3://backups/shop/ ", one.as_str()] {
        let listed = typed(&moto, path).list().await.unwrap();
        let names: Vec<_> = listed.iter().map(|backup| backup.name.as_str()).collect();
        assert_eq!(names, [NEWER, OLDER], "{path}");
        assert_eq!(listed[0].bytes, content.len() as u64);
    }
    let bucket = typed(&moto, "s3://backups/shop");
    let hear = |_: u64| ();
    let restore = async |name: &str, text: &str| {
        let (_running, stopped) = oneshot::channel();
        let restored = shell.restore_from_bucket(&bucket, name, passphrase(text), &hear, stopped);
        let restored = restored.await.map_err(|error| error.message)?;
        Ok::<_, String>(restored.expect("nobody stopped it"))
    };
    for wrong in ["", "short", "battery staple horse"] {
        let refused = restore(NEWER, wrong).await.unwrap_err();
        assert!(refused.contains("passphrase"), "{refused}");
    }
    // The page names a backup, and nothing else.
    for name in ["notes.txt", "../tapdesk-1.backup", "a/tapdesk-1.backup", ""] {
        let refused = restore(name, "").await.unwrap_err();
        assert_eq!(refused, "Choose a backup of the list.", "{name}");
    }
    // A person who cancels keeps the database.
    let (running, stopped) = oneshot::channel();
    drop(running);
    let secret = passphrase(PASSPHRASE);
    let restored = shell.restore_from_bucket(&bucket, NEWER, secret, &hear, stopped);
    assert_eq!(restored.await.unwrap(), None);
    assert_eq!(tag_names(&shell).await, ["Other"], "nothing was changed");

    assert_eq!(restore(OLDER, PASSPHRASE).await.as_deref(), Ok(OLDER));
    assert_eq!(tag_names(&shell).await, ["Bottle 41"]);
    let key = |installation: &Installation| fs::read(installation.folders().key_file()).unwrap();
    assert_eq!(key(&elsewhere), key(&shop));
    let files = fs::read_dir(elsewhere.folder()).unwrap();
    let mut names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    assert!(!names.any(|name| name.starts_with(".tapdesk")));
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_downloaded_once_until_its_passphrase_is_right_or_the_person_gives_up() {
    let (_, content) = backed_up_shop().await;
    let moto = Moto::start().await;
    let object = format!("backups/shop/{NEWER}");
    moto.write(&object, content.clone()).await;

    let elsewhere = Installation::new();
    let shell = elsewhere.ready().await;
    let bucket = typed(&moto, "s3://backups/shop");
    let restore = async |text: &str| {
        let (_running, stopped) = oneshot::channel();
        let hear = |_: u64| ();
        let restored = shell.restore_from_bucket(&bucket, NEWER, passphrase(text), &hear, stopped);
        restored.await.map_err(|error| error.message)
    };
    let kept = || {
        let files = fs::read_dir(elsewhere.folder()).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with(".tapdesk")).count()
    };
    let wrong = "battery staple horse";
    restore(wrong).await.unwrap_err();
    assert_eq!(kept(), 1);
    // Whoever gives up leaves nothing behind.
    shell.forget_backup();
    assert_eq!(kept(), 0);

    restore("").await.unwrap_err();
    // Only the downloaded file is whole now.
    moto.write(&object, b"damaged".to_vec()).await;
    restore(wrong).await.unwrap_err();
    let restored = restore(PASSPHRASE).await.unwrap();
    assert_eq!(restored.as_deref(), Some(NEWER));
    assert_eq!(tag_names(&shell).await, ["Bottle 41"]);
    assert_eq!(kept(), 0);

    // A file that is damaged is downloaded again.
    restore(PASSPHRASE).await.unwrap_err();
    assert_eq!(kept(), 0);
    moto.write(&object, content).await;
    restore(PASSPHRASE).await.unwrap();
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_that_cannot_be_listed_is_refused_at_its_field() {
    let moto = Moto::start().await;
    let refused = async |form: BucketForm| {
        let error = form.list().await.unwrap_err();
        assert!(!error.message.contains(SECRET), "{error}");
        (error.field.unwrap_or_default(), error.message)
    };
    for path in ["", "backups", "s3://Backups", "s3://backups/../x"] {
        let (field, why) = refused(typed(&moto, path)).await;
        assert_eq!(field, "path", "{path}: {why}");
    }
    for endpoint in ["s3.example.com", "http://192.0.2.1:9000"] {
        let mut form = typed(&moto, "s3://backups");
        endpoint.clone_into(&mut form.endpoint);
        assert_eq!(refused(form).await.0, "endpoint", "{endpoint}");
    }
    // Pasted from a letter: a header cannot have either.
    let mut form = typed(&moto, "s3://backups");
    "AKIA\u{200b}TAPDESK".clone_into(&mut form.access_key);
    assert_eq!(refused(form).await.0, "access_key");
    let mut form = typed(&moto, "s3://backups");
    "münchen".clone_into(&mut form.region);
    assert_eq!(refused(form).await.0, "region");
    // The environment of whoever runs the tests may have a key.
    if std::env::var_os("AWS_SECRET_ACCESS_KEY").is_none() {
        let mut form = typed(&moto, "s3://backups");
        form.secret.clear();
        assert_eq!(refused(form).await.0, "secret");
    }
    let (field, why) = refused(typed(&moto, "s3://missing")).await;
    assert!(
        field.is_empty() && why.contains("has no bucket missing"),
        "{why}"
    );
    moto.refuse_keys().await;
    let (_, why) = refused(typed(&moto, "s3://backups")).await;
    assert!(why.contains("refuses the access key"), "{why}");
}
