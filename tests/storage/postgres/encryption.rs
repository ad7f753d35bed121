//! TLS: the server's certificate must have a trusted signature and the right name.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};

use rcgen::{CertifiedKey, KeyPair};
use tapdesk_service::entropy::OsEntropy;
use tapdesk_service::storage::Storage;
use tapdesk_service::storage::postgres::{Address, OpenError, PostgresStorage, Time};
use tapdesk_tests::eventually;
use tapdesk_tests::postgres::Cluster;

use super::clock;

/// A self-signed certificate for `name`.
fn certificate(name: &str) -> CertifiedKey<KeyPair> {
    rcgen::generate_simple_self_signed([name.to_owned()]).unwrap()
}

/// A server with a certificate.
fn server(certificate: &CertifiedKey<KeyPair>) -> Cluster {
    let cluster = Cluster::start(&["fsync=off"]);
    let data = cluster.folder().join("data");
    let give = |file: &str, content: &str| {
        let path = data.join(file);
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let owner = data.metadata().unwrap();
        chown(&path, Some(owner.uid()), Some(owner.gid())).unwrap();
    };
    give("server.crt", &certificate.cert.pem());
    give("server.key", &certificate.signing_key.serialize_pem());
    cluster
}

/// Opens a database of a server that must have this certificate.
async fn open(
    cluster: &Cluster,
    certificate: &CertifiedKey<KeyPair>,
) -> Result<PostgresStorage, OpenError> {
    let database = cluster.create_database().await;
    let client = database.look_into().await;
    for statement in ["ALTER SYSTEM SET ssl = on", "SELECT pg_reload_conf()"] {
        client.batch_execute(statement).await.unwrap();
    }
    eventually("the server encrypts", || async {
        let row = client.query_one("SHOW ssl", &[]).await.unwrap();
        (row.get::<_, &str>(0) == "on").then_some(())
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root.crt");
    std::fs::write(&root, certificate.cert.pem()).unwrap();
    let url = format!(
        "{}?sslmode=verify-full&sslrootcert={}",
        database.url(),
        root.display()
    );
    let address = Address::parse(&url, |_| None).unwrap();
    PostgresStorage::open(address, clock(), Time::Its, &OsEntropy).await
}

#[tokio::test]
async fn a_server_with_its_own_certificate_is_spoken_to_in_secret() {
    let certificate = certificate("127.0.0.1");
    let cluster = server(&certificate);
    let storage = open(&cluster, &certificate).await.unwrap();
    Storage::from(storage).as_service().secrets().await.unwrap();
    let client = cluster.create_database().await.look_into().await;
    let plain = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE application_name = 'tapdesk' AND NOT ssl";
    let plain: i64 = client.query_one(plain, &[]).await.unwrap().get(0);
    assert_eq!(plain, 0);
}

#[tokio::test]
async fn a_server_with_another_certificate_is_not_spoken_to() {
    let cluster = server(&certificate("127.0.0.1"));
    let another = certificate("127.0.0.1");
    let refused = open(&cluster, &another).await.err().unwrap();
    assert!(matches!(refused, OpenError::Unreachable(..)), "{refused}");
    assert!(refused.to_string().contains("certificate"), "{refused}");
}

#[tokio::test]
async fn a_server_with_a_certificate_of_another_name_is_not_spoken_to() {
    let certificate = certificate("db.example");
    let cluster = server(&certificate);
    let refused = open(&cluster, &certificate).await.err().unwrap();
    assert!(matches!(refused, OpenError::Unreachable(..)), "{refused}");
    assert!(refused.to_string().contains("certificate"), "{refused}");
}
