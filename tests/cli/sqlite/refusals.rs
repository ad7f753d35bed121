//! Reasons for which `serve` does not start: it prints one sentence with a way out, and changes no
//! file.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use rusqlite::Connection;
use tapdesk_tests::process::Launch;

use super::{launch, run_with};

/// A launch whose database was created by an earlier start.
async fn with_database() -> Launch {
    let launch = launch();
    let status = launch.start().await.terminate().await;
    assert_eq!(status.code(), Some(0));
    launch
}

/// The error of a start that must fail. Apart from the log, nothing in the folder changes.
async fn refusal(launch: &Launch) -> String {
    let database = launch.database();
    let before = fs::read(&database).unwrap();
    let (status, said) = launch.start_in_vain().await;
    assert_eq!(status.code(), Some(1), "{said}");
    assert_eq!(
        fs::read(&database).unwrap(),
        before,
        "the database was touched"
    );
    let sentence = said.trim_end().strip_prefix("tapdesk-service: ");
    let sentence = sentence.unwrap_or_else(|| panic!("not our words: {said}"));
    assert!(
        !sentence.contains('\n') && sentence.ends_with('.'),
        "not a sentence: {said}"
    );
    sentence.to_owned()
}

fn overwrite(database: &Path, from: usize, garbage: &[u8]) {
    let mut bytes = fs::read(database).unwrap();
    bytes[from..from + garbage.len()].copy_from_slice(garbage);
    fs::write(database, bytes).unwrap();
}

#[tokio::test]
async fn an_empty_database_is_not_taken_for_a_new_one() {
    let launch = launch();
    fs::write(launch.database(), b"").unwrap();
    assert!(refusal(&launch).await.contains("is empty"));
    assert!(!launch.folder.path().join("admin.token").exists());
}

#[tokio::test]
async fn a_database_of_another_program_is_left_alone() {
    let launch = launch();
    let foreign = Connection::open(launch.database()).unwrap();
    foreign
        .execute_batch("CREATE TABLE notes (text TEXT)")
        .unwrap();
    drop(foreign);
    assert!(refusal(&launch).await.contains("is not a Tapdesk database"));
    fs::write(launch.database(), "no database at all").unwrap();
    assert!(refusal(&launch).await.contains("is not a Tapdesk database"));
}

#[tokio::test]
async fn a_damaged_database_is_left_as_it_is() {
    let launch = with_database().await;
    let whole = fs::read(launch.database()).unwrap();
    // Three kinds of damage: a page in the middle, the schema, the second half.
    overwrite(&launch.database(), 8 * 4096, &[0xff; 4096]);
    assert!(refusal(&launch).await.contains("is damaged"));
    fs::write(launch.database(), &whole).unwrap();
    overwrite(&launch.database(), 100, &[0xff; 200]);
    assert!(refusal(&launch).await.contains("is damaged"));
    fs::write(launch.database(), &whole[..whole.len() / 2]).unwrap();
    assert!(refusal(&launch).await.contains("is damaged"));
    fs::write(launch.database(), &whole).unwrap();
    launch.start().await;
}

#[tokio::test]
async fn a_newer_database_is_left_to_the_newer_program() {
    let launch = with_database().await;
    let newer = Connection::open(launch.database()).unwrap();
    newer
        .execute(
            "INSERT INTO refinery_schema_history VALUES (999, 'later', '2030-01-01T00:00:00Z', '0')",
            [],
        )
        .unwrap();
    newer.execute_batch("DROP TABLE master_keys").unwrap();
    drop(newer);
    let said = refusal(&launch).await;
    assert!(
        said.contains("newer Tapdesk") && said.contains("999"),
        "{said}"
    );
}

#[tokio::test]
async fn a_database_has_one_owner() {
    let launch = launch();
    let owner = launch.start().await;
    let (status, said) = launch.start_in_vain().await;
    assert_eq!(status.code(), Some(1));
    assert!(said.contains("in use by another Tapdesk"), "{said}");
    owner.admin_get("/tags").await;
}

#[tokio::test]
async fn a_database_has_one_owner_by_whatever_name_it_is_called() {
    let first = launch();
    let owner = first.start().await;
    let database = first.database();
    let link = launch();
    std::os::unix::fs::symlink(&database, link.database()).unwrap();
    let (status, said) = link.start_in_vain().await;
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("in use by another Tapdesk"), "{said}");

    let second = launch();
    fs::hard_link(&database, second.database()).unwrap();
    let (status, said) = second.start_in_vain().await;
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("more than one name"), "{said}");
    owner.admin_get("/tags").await;
    fs::remove_file(second.database()).unwrap();
    owner.terminate().await;
    link.start().await;
}

#[tokio::test]
async fn a_port_that_is_taken_is_named_with_another_to_use() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let launch = launch();
    let listen = ["serve", "--listen", &address.to_string()];
    let said = run_with(&launch.database(), &[], &listen).await.refused();
    assert!(said.contains(&format!("Port {}", address.port())), "{said}");
    assert!(said.contains("--listen 127.0.0.1:"), "{said}");
    assert!(
        !launch.database().exists(),
        "nothing is made by a start that fails"
    );
}

#[tokio::test]
async fn an_installation_that_is_not_named_well_is_refused_in_words() {
    let launch = launch();
    let database = launch.database();
    for (environment, arguments, word) in [
        (
            ("TAPDESK_ADMIN_TOKEN", "short"),
            &["serve"][..],
            "fewer than 32",
        ),
        (
            ("TAPDESK_DATABASE", "postgres://me:pw@127.0.0.1:1/t"),
            &["serve"],
            "t at 127.0.0.1 cannot be reached",
        ),
        (
            (
                "TAPDESK_DATABASE",
                "postgres://me:pw@db.example/t?sslmode=prefer",
            ),
            &["serve"],
            "Remove sslmode",
        ),
        (
            ("TAPDESK_DATABASE", "tapdesk.db"),
            &["serve"],
            "sqlite:PATH",
        ),
        (
            ("TAPDESK_DATABASE", "sqlite:"),
            &["serve"],
            "a file to survive in",
        ),
        (("TAPDESK_TAG_URL", "tags.example/t"), &["serve"], "tag_url"),
        (("TAPDESK_RETENTION_MONTHS", "0"), &["serve"], "1 to 1200"),
        (("TAPDESK_COUNTRY_FILE", "/nowhere"), &["serve"], "MMDB"),
        (
            ("A", "B"),
            &["serve", "--database", "postgres://me:hidden@db/t"],
            "A password",
        ),
        (
            ("A", "B"),
            &["serve", "--database=postgres://me:hidden@db/t"],
            "A password",
        ),
    ] {
        let arguments = [arguments, &["--listen", "127.0.0.1:0"]].concat();
        let said = run_with(&database, &[environment], &arguments)
            .await
            .refused();
        assert!(said.contains(word), "{said}");
        assert!(!said.contains("hidden") && !said.contains("pw"), "{said}");
        assert!(!database.exists());
    }
}

#[tokio::test]
async fn a_token_file_with_a_short_token_is_refused() {
    let mut launch = launch();
    launch.token_in_environment = false;
    fs::write(launch.folder.path().join("admin.token"), "short").unwrap();
    let (status, said) = launch.start_in_vain().await;
    assert_eq!(status.code(), Some(1));
    assert!(said.contains("fewer than 32"), "{said}");
}
