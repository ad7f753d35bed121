//! Problems at a start, and the ways out.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;

use axum::http::Method;
use rusqlite::Connection;
use serde_json::{Value, json};
use tapdesk::carriers::Carriers;
use tapdesk::keychain::KeyStoreKind;
use tapdesk::shell::Shell;
use tapdesk::state::ProblemKind;
use tapdesk_tests::{Client, base_port, skip};

use crate::installation::{Installation, call, make_tag, problem, ready, tag_names};

fn taken_port() -> (TcpListener, u16) {
    let port = base_port();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
    (listener, port)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_start_makes_everything_and_a_second_finds_it() {
    let installation = Installation::new();
    let shell = installation.ready().await;
    let first = ready(&shell);
    assert_eq!(first.connection.id, "embedded");
    assert_eq!(first.tag_url, format!("{}/t", first.address));
    assert_eq!(first.lan, [""; 0]);
    make_tag(&shell, "Bottle 41").await;
    shell.stop().await;

    let shell = installation.ready().await;
    assert_eq!(ready(&shell), first, "the port with it");
    assert_eq!(tag_names(&shell).await, ["Bottle 41"]);
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_keychain_the_screens_are_told_of_the_key_file() {
    let installation = Installation::new();
    let shell = installation.ready().await;
    let store = ready(&shell).key_store;
    assert_eq!(store.kind, KeyStoreKind::File);
    let file = installation.folders().key_file();
    let text = store.text;
    assert!(text.contains(&file.display().to_string()), "{text}");
    assert!(text.contains("no keychain"), "{text}");
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fixed_port_in_use_is_said_with_a_free_one_that_then_works() {
    let installation = Installation::new();
    let (_other, port) = taken_port();
    installation.prefer(|preferences| preferences.port = Some(port));
    let shell = installation.start().await;
    let problem = problem(&shell);
    assert_eq!(problem.kind, ProblemKind::PortInUse);
    assert!(problem.title.contains(&port.to_string()), "{problem}");
    assert!(shell.backend().await.is_none());

    let free = problem.free_port.unwrap();
    shell.start_on(free).await;
    assert_eq!(ready(&shell).port_fixed, Some(free));
    assert!(ready(&shell).address.ends_with(&format!(":{free}")));
    shell.stop().await;
}

/// An installation whose last port is used by another program; `depend` creates things that lead to
/// the port.
async fn moved_out(
    depend: impl AsyncFnOnce(&Arc<Shell>),
) -> (Installation, Arc<Shell>, TcpListener, u16) {
    let installation = Installation::new();
    let shell = installation.ready().await;
    depend(&shell).await;
    let address = ready(&shell).address;
    let (_, port) = address.rsplit_once(':').unwrap();
    let port = port.parse().unwrap();
    shell.stop().await;
    let other = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).unwrap();
    let shell = installation.start().await;
    (installation, shell, other, port)
}

/// A tag with a chip, and one with a printed code.
async fn chip_and_label(shell: &Arc<Shell>) {
    let tag = make_tag(shell, "Bottle 41").await;
    let chip = json!({"uid": "04A1B2C3D4E580", "technology": "ntag213", "tag_id": tag});
    let (status, made) = call(shell, Method::POST, "/admin/v1/inlays", chip).await;
    assert_eq!(status, 201, "{made}");
    let printed = json!({"name": "Poster", "has_qr_code": true});
    let (status, made) = call(shell, Method::POST, "/admin/v1/tags", printed).await;
    assert_eq!(status, 201, "{made}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_that_nothing_leads_to_is_left_for_another_which_is_said() {
    let (_installation, shell, _other, port) = moved_out(async |shell| {
        make_tag(shell, "Bottle 41").await;
        let (status, _) = call(shell, Method::POST, "/admin/v1/demo", Value::Null).await;
        assert_eq!(status, 200, "the simulated world leads no phone anywhere");
    })
    .await;
    let nothing = Carriers {
        port,
        ..Carriers::default()
    };
    assert_eq!(ready(&shell).moved, Some(nothing));
    shell.stop().await;
    // It now uses the other port.
    shell.start().await;
    assert_eq!(ready(&shell).moved, None);
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_that_chips_and_labels_lead_to_is_not_left_by_itself() {
    let (_installation, shell, other, port) = moved_out(chip_and_label).await;
    let refused = problem(&shell);
    let carriers = Carriers {
        port,
        inlays: 1,
        labels: 1,
        phones: false,
    };
    assert_eq!(refused.kind, ProblemKind::PortInUse);
    assert_eq!(refused.carriers, Some(carriers));
    assert!(
        refused
            .text
            .starts_with("1 chip and 1 printed code lead to port"),
        "{refused}"
    );
    assert!(shell.backend().await.is_none());

    // The owner moves to another port: the state says so until the service is back, over starts and
    // further moves.
    shell.start_on(refused.free_port.unwrap()).await;
    assert_eq!(ready(&shell).moved, Some(carriers));
    shell.stop().await;
    shell.start().await;
    assert_eq!(ready(&shell).moved, Some(carriers));
    let (further, next) = taken_port();
    drop(further);
    shell.fix_port(Some(next)).await.unwrap();
    assert_eq!(ready(&shell).moved, Some(carriers));
    assert!(shell.fix_port(Some(port)).await.is_err(), "still taken");
    assert_eq!(ready(&shell).moved, Some(carriers));
    drop(other);
    shell.fix_port(Some(port)).await.unwrap();
    assert_eq!(ready(&shell).moved, None);
    shell.stop().await;
    shell.start().await;
    assert!(ready(&shell).address.ends_with(&format!(":{port}")));
    assert_eq!(ready(&shell).moved, None);
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_that_phones_may_use_is_not_left_by_itself_and_waits_for_the_other_program() {
    let (_installation, shell, other, port) = moved_out(async |shell| {
        shell.allow_phones(true).await.unwrap();
    })
    .await;
    let carriers = problem(&shell).carriers.unwrap();
    assert!(carriers.phones && carriers.inlays == 0, "{carriers:?}");
    drop(other);
    shell.start().await;
    assert!(ready(&shell).address.ends_with(&format!(":{port}")));
    assert_eq!(ready(&shell).moved, None);
    shell.stop().await;
}

/// A kiosk tries again every five seconds, and a start can take longer.
#[tokio::test(flavor = "multi_thread")]
async fn a_late_retry_does_not_stop_the_service_that_an_earlier_one_started() {
    let (_installation, shell, other, _port) = moved_out(chip_and_label).await;
    assert_eq!(problem(&shell).kind, ProblemKind::PortInUse);
    drop(other);
    shell.start_again().await;
    let first = ready(&shell);
    let states = shell.watch();
    shell.start_again().await;
    assert!(!states.has_changed().unwrap(), "it was started twice");
    assert_eq!(ready(&shell), first);
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_that_is_left_for_good_is_no_longer_named() {
    let installation = Installation::new();
    let shell = installation.ready().await;
    chip_and_label(&shell).await;
    let (other, port) = taken_port();
    drop(other);
    shell.fix_port(Some(port)).await.unwrap();
    assert!(ready(&shell).moved.is_some_and(|moved| moved.inlays == 1));
    shell.keep_port().await;
    assert_eq!(ready(&shell).moved, None);
    shell.stop().await;
    shell.start().await;
    assert_eq!(ready(&shell).moved, None);
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_that_cannot_be_fixed_leaves_everything_as_it_was() {
    let installation = Installation::new();
    let shell = installation.ready().await;
    let before = ready(&shell);
    let (_other, port) = taken_port();
    let refused = shell.fix_port(Some(port)).await.unwrap_err();
    assert!(refused.contains("is used by another program"), "{refused}");
    assert_eq!(ready(&shell), before);
    assert_eq!(tag_names(&shell).await, [""; 0]);
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_go_on_while_the_port_changes() {
    let installation = Installation::new();
    let shell = installation.ready().await;
    make_tag(&shell, "Bottle 41").await;
    let (other, port) = taken_port();
    drop(other);
    let (moved, names) = tokio::join!(shell.fix_port(Some(port)), tag_names(&shell));
    assert_eq!(moved, Ok(()));
    assert_eq!(names, ["Bottle 41"]);
    assert_eq!(ready(&shell).address, format!("http://127.0.0.1:{port}"));
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_in_use_is_left_to_its_owner() {
    let installation = Installation::new();
    let owner = installation.ready().await;
    let second = installation.start().await;
    let refused = problem(&second);
    assert_eq!(refused.kind, ProblemKind::DatabaseInUse);
    let database = installation.folders().database;
    assert_eq!(refused.path, Some(database.display().to_string()));
    assert_eq!(tag_names(&owner).await, [""; 0]);
    owner.stop().await;

    second.start().await;
    assert_eq!(tag_names(&second).await, [""; 0]);
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_no_database_is_moved_aside_for_a_new_one_never_deleted() {
    for (content, kind) in [
        (&b""[..], ProblemKind::Damaged),
        (b"a letter to grandmother", ProblemKind::Foreign),
    ] {
        let installation = Installation::new();
        let database = installation.folders().database;
        fs::write(&database, content).unwrap();
        let shell = installation.start().await;
        assert_eq!(problem(&shell).kind, kind);
        assert_eq!(fs::read(&database).unwrap(), content, "left as it is");

        let aside = shell.start_afresh().await.unwrap();
        assert_eq!(
            fs::read(installation.folder().join(aside)).unwrap(),
            content
        );
        assert_eq!(tag_names(&shell).await, [""; 0]);
        shell.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_database_is_named_and_left_as_it_is() {
    let installation = Installation::new();
    let shell = installation.ready().await;
    make_tag(&shell, "Bottle 41").await;
    shell.stop().await;
    let database = installation.folders().database;
    let mut content = fs::read(&database).unwrap();
    // All pages but the first, which identifies the file.
    content[4096..].fill(0xff);
    fs::write(&database, &content).unwrap();

    let shell = installation.start().await;
    let refused = problem(&shell);
    assert_eq!(refused.kind, ProblemKind::Damaged);
    assert_eq!(refused.path, Some(database.display().to_string()));
    assert_eq!(fs::read(&database).unwrap(), content);
    shell.start_afresh().await.unwrap();
    assert_eq!(tag_names(&shell).await, [""; 0]);
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_database_is_left_for_the_newer_version() {
    let installation = Installation::new();
    installation.ready().await.stop().await;
    let database = Connection::open(installation.folders().database).unwrap();
    let newer = "UPDATE refinery_schema_history SET version = 999 \
                 WHERE version = (SELECT max(version) FROM refinery_schema_history)";
    database.execute(newer, []).unwrap();
    drop(database);
    let shell = installation.start().await;
    assert_eq!(problem(&shell).kind, ProblemKind::Newer);
    assert!(problem(&shell).text.contains("999"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_file_that_is_none_is_said_and_left_as_it_is() {
    let installation = Installation::new();
    fs::write(installation.folders().key_file(), "not a key").unwrap();
    let shell = installation.start().await;
    assert_eq!(problem(&shell).kind, ProblemKind::Keys);
    let key_file = fs::read_to_string(installation.folders().key_file());
    assert_eq!(key_file.unwrap(), "not a key");
    fs::remove_file(installation.folders().key_file()).unwrap();
    shell.start().await;
    ready(&shell);
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_inlays_need_and_that_is_gone_or_another_is_said() {
    let installation = Installation::new();
    let shell = installation.ready().await;
    let (status, _) = call(&shell, Method::POST, "/admin/v1/demo", Value::Null).await;
    assert_eq!(status, 200);
    shell.stop().await;
    let file = installation.folders().key_file();
    let key = fs::read(&file).unwrap();

    for (damage, words) in [(None, "cannot be used"), (Some("00"), "is not the one")] {
        fs::remove_file(&file).unwrap();
        if let Some(digits) = damage {
            fs::write(&file, digits.repeat(32)).unwrap();
        }
        let shell = installation.ready().await;
        let store = ready(&shell).key_store;
        assert_eq!(store.kind, KeyStoreKind::Locked, "{}", store.text);
        assert!(store.text.contains(words), "{}", store.text);
        shell.stop().await;
        fs::write(&file, &key).unwrap();
    }
    let shell = installation.ready().await;
    assert_eq!(ready(&shell).key_store.kind, KeyStoreKind::File);
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_it_listens_is_changed_where_it_is_fixed_alone() {
    let installation = Installation::new();
    let (other, port) = taken_port();
    drop(other);
    let at = (Ipv4Addr::LOCALHOST, port).into();
    let shell = installation.start_at(Some(at)).await;
    let before = ready(&shell);
    assert!(before.listen_fixed);
    assert_eq!(before.address, format!("http://127.0.0.1:{port}"));
    for refused in [
        shell.fix_port(Some(0)).await,
        shell.fix_port(None).await,
        shell.allow_phones(true).await,
    ] {
        assert!(refused.unwrap_err().contains("TAPDESK_LISTEN"));
    }
    assert_eq!(ready(&shell), before);
    shell.stop().await;
    let shell = installation.ready().await;
    assert!(!ready(&shell).listen_fixed);
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn phones_reach_taps_alone_and_this_machine_the_admin_api_as_well() {
    let installation = Installation::new();
    let shell = installation.ready().await;
    shell.allow_phones(true).await.unwrap();
    let opened = ready(&shell);
    let token = fs::read_to_string(installation.folders().token_file()).unwrap();
    let status = async |base: &str, path: &str| {
        let client = Client::new(base, token.trim());
        let answer = client.get(path).bearer_auth(client.admin_token());
        answer.send().await.unwrap().status().as_u16()
    };
    assert_eq!(status(&opened.address, "/admin/v1/tags").await, 200);
    if opened.lan.is_empty() {
        skip("phones reach this machine by no network");
        return shell.stop().await;
    }
    for address in &opened.lan {
        assert_eq!(status(address, "/health").await, 200, "{address}");
        assert_eq!(status(address, "/admin/v1/tags").await, 404, "{address}");
        assert_eq!(status(address, "/metrics").await, 404, "{address}");
    }
    assert_eq!(opened.tag_url, format!("{}/t", opened.lan[0]));

    shell.allow_phones(false).await.unwrap();
    assert_eq!(ready(&shell).lan, [""; 0]);
    for address in &opened.lan {
        let client = Client::new(address.as_str(), "");
        assert!(client.get("/health").send().await.is_err(), "{address}");
    }
    shell.stop().await;
}
