use std::ffi::OsString;
use std::fs;

use super::*;

const PATH: &str = "/export?format=csv";

fn cursor() -> Cursor {
    Cursor {
        bound: "9".to_owned(),
        rows: Rows::Csv,
    }
}

fn names(folder: &Path) -> Vec<OsString> {
    let files = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_replaced_only_if_that_is_asked_and_only_by_a_whole_one() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("tags.csv");
    for finishes in [false, true] {
        fs::write(&place, "former").unwrap();
        let refused = Download::create(&place, PATH.to_owned());
        assert!(matches!(refused, Err(FileError::Exists(_))));
        let mut download = Download::replace(&place, PATH.to_owned()).unwrap();
        download.write_all(b"new").unwrap();
        assert_eq!(names(folder.path()), ["tags.csv", "tags.csv.part"]);
        if finishes {
            assert_eq!(download.finish().unwrap(), 3);
        } else {
            drop(download);
        }
        let expected: &[u8] = if finishes { b"new" } else { b"former" };
        assert_eq!(fs::read(&place).unwrap(), expected);
        assert_eq!(names(folder.path()), ["tags.csv"]);
    }
}

#[test]
fn two_downloads_do_not_write_one_new_file() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("tags.csv");
    let first = Download::create(&place, PATH.to_owned()).unwrap();
    let second = Download::create(&place, PATH.to_owned());
    assert!(matches!(second, Err(FileError::Busy(_))));
    drop(first);
    assert!(names(folder.path()).is_empty());
}

#[test]
fn without_a_cursor_an_interrupted_download_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("backup");
    let mut download = Download::create(&place, "/backup".to_owned()).unwrap();
    download.begin(None).unwrap();
    download.write_all(b"id\n1\n").unwrap();
    assert_eq!(download.interrupted().unwrap(), Interrupted::Lost);
}

#[test]
fn without_a_whole_row_an_export_begins_again() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("taps.csv");
    let mut download = Download::create(&place, PATH.to_owned()).unwrap();
    for text in ["id,na", "id,name\r\n", "id,name\r\n9,La"] {
        download.begin(Some(cursor())).unwrap();
        download.write_all(text.as_bytes()).unwrap();
        assert_eq!(download.interrupted().unwrap(), Interrupted::FromStart);
        assert_eq!(download.progress(), Progress::default());
        assert_eq!(download.path(), PATH);
    }
    download.begin(Some(cursor())).unwrap();
    download.write_all(b"id,name\r\n").unwrap();
    assert_eq!(download.finish().unwrap(), 9);
    assert_eq!(fs::read(&place).unwrap(), b"id,name\r\n");
}

#[test]
fn another_process_continues_the_part_that_was_kept() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("taps.csv");
    let resumed =
        |cursor: &str| Download::resume(&place, PATH.to_owned(), cursor.to_owned(), Rows::Csv);
    assert!(matches!(resumed("9.9"), Err(FileError::Nothing(_))));
    assert!(names(folder.path()).is_empty());

    let mut download = Download::create(&place, PATH.to_owned()).unwrap();
    download.begin(Some(cursor())).unwrap();
    download.write_all(b"id,name\r\n9,a\r\n8,\"b\r\n").unwrap();
    assert_eq!(download.interrupted().unwrap(), Interrupted::AfterRow);
    let (part, rest) = download.keep();
    assert_eq!((part, &*rest), (folder.path().join("taps.csv.part"), "9.9"));

    // The service is not reached: the part stays.
    drop(resumed(&rest).unwrap());
    let mut download = resumed(&rest).unwrap();
    let path = format!("{PATH}&columns=id%2Cname&cursor=9.9");
    assert_eq!(download.path(), path);
    download.begin(Some(cursor())).unwrap();
    download.write_all(b"8,b\r\n").unwrap();
    assert_eq!(download.finish().unwrap(), 19);
    assert_eq!(fs::read(&place).unwrap(), b"id,name\r\n9,a\r\n8,b\r\n");
}

#[test]
fn an_answer_that_does_not_continue_an_export_leaves_its_part() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("taps.csv");
    let part = folder.path().join("taps.csv.part");
    let arrived = b"id,name\r\n9,a\r\n";
    let mut download = Download::create(&place, PATH.to_owned()).unwrap();
    download.begin(Some(cursor())).unwrap();
    download.write_all(arrived).unwrap();
    download.interrupted().unwrap();
    let jsonl = Cursor {
        rows: Rows::Jsonl,
        ..cursor()
    };
    // In this process, as the desktop app continues, and in another one, as a command does.
    for other in [None, Some(jsonl)] {
        let refused = download.begin(other.clone());
        assert!(matches!(refused, Err(FileError::NotContinued(_))));
        assert_eq!(download.interrupted().unwrap(), Interrupted::AfterRow);
        let (_, rest) = download.keep();
        assert_eq!(rest, "9.9");
        download = Download::resume(&place, PATH.to_owned(), rest, Rows::Csv).unwrap();
        assert!(download.begin(other).is_err());
        drop(download);
        assert_eq!(fs::read(&part).unwrap(), arrived);
        let rest = "9.9".to_owned();
        download = Download::resume(&place, PATH.to_owned(), rest, Rows::Csv).unwrap();
    }
    // An answer that was never announced changes nothing, either.
    assert_eq!(download.interrupted().unwrap(), Interrupted::AfterRow);
    download.begin(Some(cursor())).unwrap();
    download.write_all(b"8,b\r\n").unwrap();
    download.finish().unwrap();
    assert_eq!(fs::read(&place).unwrap(), b"id,name\r\n9,a\r\n8,b\r\n");
}

#[test]
fn only_the_answer_to_an_export_of_rows_has_a_cursor() {
    for (kind, position, expected) in [
        ("text/csv; charset=utf-8", "7", Some(("7", Rows::Csv))),
        (
            "application/jsonl; charset=utf-8",
            "7.3",
            Some(("7", Rows::Jsonl)),
        ),
        ("text/csv", "", None),
        ("application/octet-stream", "7", None),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, kind.parse().unwrap());
        headers.insert("tapdesk-cursor", position.parse().unwrap());
        let cursor = Cursor::of(&headers);
        let found = cursor.as_ref().map(|cursor| (&*cursor.bound, cursor.rows));
        assert_eq!(found, expected, "{kind}");
    }
    assert_eq!(Cursor::of(&HeaderMap::new()), None);
}
