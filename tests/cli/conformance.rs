//! `conformance`: our own service passes every check. Faulty services and verifiers, and verifiers of
//! other makers, fail the right ones.

mod faulty_service;
mod faulty_verifier;
mod other_verifiers;
mod our_own;

use std::collections::BTreeMap;
use std::path::Path;

use axum::Router;
use axum::http::StatusCode;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::{Ran, run_with};

/// A finished run, with the results in its `JUnit` XML.
#[derive(Debug)]
struct Run {
    ran: Ran,
    /// `passed`, `failure` or `skipped`, by the name of the check.
    results: BTreeMap<String, String>,
}

/// Runs the command with a report in `JUnit` XML.
async fn judge(arguments: &[&str]) -> Run {
    judge_with(&[], arguments).await
}

/// The same with environment variables.
async fn judge_with(environment: &[(&str, &str)], arguments: &[&str]) -> Run {
    let folder = TempDir::new().unwrap();
    let report = folder.path().join("report.xml");
    let mut all = vec!["conformance", "--junit", report.to_str().unwrap()];
    all.extend(arguments);
    let database = folder.path().join("none.db");
    let ran = run_with(&database, environment, &all).await;
    let results = results(&report);
    Run { ran, results }
}

/// The results in a report; none if it was not written.
fn results(report: &Path) -> BTreeMap<String, String> {
    let Ok(xml) = std::fs::read_to_string(report) else {
        return BTreeMap::new();
    };
    let mut results = BTreeMap::new();
    let mut current = String::new();
    let mut reader = Reader::from_str(&xml);
    loop {
        match reader.read_event().expect("the report is XML") {
            Event::Eof => return results,
            Event::Start(tag) if tag.name().0 == "testcase" => {
                current = attribute(&tag, "name");
                results.insert(current.clone(), "passed".to_owned());
            }
            Event::Empty(tag) if tag.name().0 == "property" => {
                assert!(
                    !attribute(&tag, "value").is_empty(),
                    "{current} has no source"
                );
            }
            Event::Empty(tag) => {
                assert!(
                    !attribute(&tag, "message").is_empty(),
                    "{current} has no message"
                );
                results.insert(current.clone(), tag.name().0.to_owned());
            }
            _ => {}
        }
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> String {
    let attribute = tag.try_get_attribute(name).expect("well-formed");
    let attribute = attribute.unwrap_or_else(|| panic!("no {name} in {tag:?}"));
    let value = attribute.normalized_value(XmlVersion::Implicit1_0);
    value.expect("well-formed").into_owned()
}

impl Run {
    /// The names of the checks with this result.
    fn with(&self, result: &str) -> Vec<&str> {
        let found = self.results.iter().filter(|(_, found)| *found == result);
        found.map(|(name, _)| name.as_str()).collect()
    }

    fn failed(&self) -> Vec<&str> {
        self.with("failure")
    }

    /// Checks that nothing failed.
    #[track_caller]
    fn passes(&self) {
        assert_eq!(self.failed(), Vec::<&str>::new(), "{}", self.ran.stdout);
        assert_eq!(self.ran.code, Some(0), "{:?}", self.ran);
        assert!(!self.with("passed").is_empty());
    }
}

/// A server of a test, which is stopped when this is dropped.
struct Server {
    base: String,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Serves what `router` makes of the address.
    async fn start(router: impl FnOnce(&str) -> Router) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let router = router(&base);
        let task = tokio::spawn(async move {
            let _ = axum::serve(listener, router).await;
        });
        Self { base, task }
    }
}

#[tokio::test]
async fn wrong_use_and_an_unreachable_subject_have_a_status_of_their_own() {
    let port = tapdesk_tests::free_port();
    let nobody = format!("http://127.0.0.1:{port}");
    let template = format!("{nobody}/tag?picc_data={{picc}}&cmac={{mac}}");
    for arguments in [
        vec![],
        vec!["--service", "ftp://a.example"],
        vec!["--service", &nobody],
        vec!["--service", &nobody, "--verifier", &template],
        vec!["--verifier", &template],
        vec!["--verifier", "https://a.example/tag?cmac={mac}"],
        vec!["--verifier", &template, "--tap-url", &nobody],
        vec!["--service", &nobody, "--counter", "5"],
        vec!["--verifier", &template, "--keys", "no-such-file"],
    ] {
        let run = judge(&arguments).await;
        assert_eq!(run.ran.code, Some(2), "{arguments:?} {:?}", run.ran);
        assert!(run.results.is_empty(), "{arguments:?}");
    }
    let run = judge(&[]).await;
    let named = run.ran.stderr.contains("--service") && run.ran.stderr.contains("--verifier");
    assert!(named, "{}", run.ran.stderr);
}

#[tokio::test]
async fn a_report_is_printed_although_its_file_cannot_be_written() {
    let router = Router::new().fallback(|| async { StatusCode::NOT_FOUND });
    let server = Server::start(|_| router).await;
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("none/report.xml");
    let file = file.to_str().unwrap();
    let arguments = ["conformance", "--service", &server.base, "--junit", file];
    let ran = run_with(&folder.path().join("none.db"), &[], &arguments).await;
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stdout.contains("payload-invalid-key"), "{ran:?}");
    assert!(ran.stderr.contains("cannot be written"), "{ran:?}");
}

/// A server that closes each connection at once.
async fn closing() -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let task = tokio::spawn(async move {
        while let Ok(connection) = listener.accept().await {
            drop(connection);
        }
    });
    Server { base, task }
}

#[tokio::test]
async fn a_service_whose_answers_cannot_be_read_fails_by_name() {
    let mut servers = vec![closing().await];
    // No text, and more than is read.
    for body in [b"\xff".to_vec(), vec![b'x'; 5 << 20]] {
        let answer = (StatusCode::INTERNAL_SERVER_ERROR, body);
        let router = Router::new().fallback(move || async move { answer });
        servers.push(Server::start(|_| router).await);
    }
    for server in &servers {
        let run = judge(&["--service", &server.base]).await;
        assert_eq!(run.ran.code, Some(1), "{:?}", run.ran);
        let failed = run.failed();
        assert!(failed.contains(&"payload-invalid-key"), "{:?}", run.ran);
    }
}
