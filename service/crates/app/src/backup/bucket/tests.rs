use std::io::Write as _;

use object_store::memory::InMemory;

use super::*;

const NAME: &str = "tapdesk-20260101T120000Z.backup";

/// A bucket in memory, with parts of 1,000 bytes.
fn bucket(path: &str) -> Bucket {
    Bucket {
        path: BucketPath::parse(path).unwrap(),
        server: "s3.example.com".to_owned(),
        store: Arc::new(InMemory::new()),
        part: 1_000,
    }
}

fn copy(length: usize) -> (StdFile, Vec<u8>) {
    let byte = |i: usize| u8::try_from(i % 251).unwrap();
    let content: Vec<u8> = (0..length).map(byte).collect();
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&content).unwrap();
    (file, content)
}

#[tokio::test]
async fn a_backup_of_any_number_of_parts_reads_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    for length in [1, 999, 1_000, 1_001, 3_000, 12_345] {
        let bucket = bucket("s3://backups/shop");
        let (file, content) = copy(length);
        let downloaded = folder.path().join(length.to_string());
        let bytes = bucket.store(NAME, file, &downloaded).await.unwrap();
        assert_eq!(bytes, length as u64);
        assert_eq!(std::fs::read(&downloaded).unwrap(), content);
        assert!(!private_file::is_open_to_others(&downloaded).unwrap());
        let listed = bucket.list().await.unwrap();
        let name = NAME.to_owned();
        assert_eq!(listed, [StoredBackup { name, bytes }]);
    }
}

#[tokio::test]
async fn no_backup_is_overwritten_and_others_are_neither_listed_nor_removed() {
    let folder = tempfile::tempdir().unwrap();
    let bucket = bucket("s3://backups");
    bucket.check().await.unwrap();
    let one = folder.path().join("one");
    bucket.store(NAME, copy(10).0, &one).await.unwrap();
    let again = folder.path().join("again");
    let refused = bucket.store(NAME, copy(20).0, &again).await;
    assert!(matches!(refused, Err(BackupError::Exists(_))));
    for other in ["other.txt", "shop/tapdesk-20260101T120000Z.backup"] {
        let place = ObjectPath::parse(other).unwrap();
        bucket.store.put(&place, "x".into()).await.unwrap();
    }
    let newer = "tapdesk-20260102T120000Z.backup";
    let file = folder.path().join("newer");
    bucket.store(newer, copy(30).0, &file).await.unwrap();
    let names = async || {
        let listed = bucket.list().await.unwrap();
        let names = listed.into_iter().map(|found| found.name);
        names.collect::<Vec<_>>()
    };
    assert_eq!(names().await, [newer, NAME]);
    let gone = bucket.remove(vec![NAME.to_owned()]).await;
    assert_eq!(gone, [NAME]);
    assert_eq!(names().await, [newer]);
}

#[tokio::test]
async fn a_web_page_in_the_place_of_a_server_of_buckets_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let bucket = bucket("s3://backups");
    // It has whatever it is asked for.
    for name in [NEVER, NAME] {
        let place = bucket.object(name).unwrap();
        bucket.store.put(&place, "x".into()).await.unwrap();
    }
    let file = folder.path().join("one");
    let stored = bucket.store(NAME, copy(10).0, &file).await;
    let why = stored.unwrap_err().to_string();
    assert!(why.contains("AWS_ENDPOINT_URL"), "{why}");
    bucket.delete(NAME).await.unwrap();
    let why = bucket.list().await.unwrap_err().to_string();
    assert!(why.contains("AWS_ENDPOINT_URL"), "{why}");
}

#[tokio::test]
async fn an_error_is_a_sentence_that_repeats_no_answer() {
    let answer = "Error performing PUT http://x in 1s - Server returned non-2xx status code: 403 Forbidden: \
                  <Error><Code>SignatureDoesNotMatch</Code><AWSAccessKeyId>AKIA</AWSAccessKeyId></Error>";
    let sentence = |text: &str| {
        let error = object_store::Error::Generic {
            store: "S3",
            source: text.to_owned().into(),
        };
        let path = BucketPath::parse("s3://backups/shop").unwrap();
        words::sentence(&error, &path, "s3.example.com")
    };
    let refused = sentence(answer);
    assert!(refused.contains("AWS_SECRET_ACCESS_KEY"), "{refused}");
    assert!(!refused.contains("AKIA"), "{refused}");
    let missing = sentence("status code: 404 Not Found: <Code>NoSuchBucket</Code>");
    assert!(missing.starts_with("s3.example.com has no bucket backups."));
    let late = "status code: 403 Forbidden: <Error><Code>RequestTimeTooSkewed</Code></Error>";
    assert!(sentence(late).starts_with("The clocks of this machine"));
    let busy = sentence("status code: 503 Slow: <html>\nbusy</html>");
    assert_eq!(busy, "s3.example.com answers 503 for s3://backups/shop.");
    let other = sentence("Connection refused (os error 111)");
    assert!(other.ends_with("s3://backups/shop: Connection refused (os error 111)."));
}

#[tokio::test]
async fn a_download_says_how_much_has_arrived() {
    let folder = tempfile::tempdir().unwrap();
    let bucket = bucket("s3://backups");
    let length = 2_500_000;
    let stored = folder.path().join("stored");
    bucket.store(NAME, copy(length).0, &stored).await.unwrap();
    let heard = std::sync::Mutex::new(Vec::new());
    let file = folder.path().join("file");
    let hear = |bytes: u64| heard.lock().unwrap().push(bytes);
    bucket.fetch_watched(NAME, &file, &hear).await.unwrap();
    let heard = heard.into_inner().unwrap();
    assert!(heard.is_sorted(), "{heard:?}");
    assert_eq!(heard.last(), Some(&(length as u64)));
}

#[tokio::test]
async fn only_names_that_can_be_restored_are_listed() {
    let bucket = bucket("s3://backups");
    for other in [
        "tapdesk-before upgrade.backup",
        "tapdesk-\u{202e}.backup",
        NAME,
    ] {
        let place = ObjectPath::parse(other).unwrap();
        bucket.store.put(&place, "x".into()).await.unwrap();
    }
    let listed = bucket.list().await.unwrap();
    let names: Vec<_> = listed.iter().map(|backup| backup.name.as_str()).collect();
    assert_eq!(names, [NAME]);
}

#[test]
fn a_download_that_would_fill_the_disk_does_not_begin() {
    assert!(check_room(10 * MB, Some(20 * MB)).is_ok());
    assert!(check_room(10 * MB, None).is_ok());
    let refused = check_room(10 * MB, Some(20 * MB - 1)).unwrap_err();
    let said = refused.to_string();
    assert!(
        said.contains("needs 20 MB") && said.contains("19 MB are free"),
        "{said}"
    );
    assert!(check_room(u64::MAX, Some(1 << 60)).is_err());
}
