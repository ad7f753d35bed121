//! Verifiers of other makers, re-implemented by their public behaviour, and a naive one. The table of
//! what they fail is in the guide.

use std::collections::HashMap;

use axum::Router;
use axum::extract::Query;
use axum::http::StatusCode;
use tapdesk_service::inlay::key::{AesKey, cmac};
use tapdesk_service::inlay::technology::Mode;
use tapdesk_service::inlay::technology::ntag424::{MetaKey, Mirrored, Session};
use tapdesk_service::inlay::template::{Field, Filled};
use tapdesk_tests::fixtures::hex;

use super::{Run, Server, judge};

const GUIDE: &str = include_str!("../../../service/docs/guides/conformance.md");

type Parameters = HashMap<String, String>;

/// PICC data and MAC of a request, whose lengths are those of a chip.
fn read(parameters: &Parameters) -> Option<(Mirrored, String)> {
    let value = |name: &str, digits: usize| {
        let value = parameters.get(name)?.to_ascii_uppercase();
        (value.len() == digits).then_some(value)
    };
    let code = Filled::default().with(Field::Picc, &value("picc_data", 32)?);
    let opened = MetaKey::new(Mode::Aes, &AesKey::FACTORY).open(&code)?;
    Some((opened, value("cmac", 16)?))
}

/// `sdm-backend`, in AES mode with the keys of its demonstration: it verifies the MAC, stores no
/// counter, and answers errors of its API with 200.
async fn sdm_backend(Query(parameters): Query<Parameters>) -> (StatusCode, String) {
    let genuine = read(&parameters).filter(|(mirrored, mac)| {
        let right = Session::new(Mode::Aes, &AesKey::FACTORY, *mirrored).mac(b"");
        mirrored.uid.is_some() && *mac == hex(&right)
    });
    let invalid = r#"{"error": "Invalid message (most probably wrong signature)."}"#;
    let body = genuine.map_or_else(
        || invalid.to_owned(),
        |(mirrored, _)| {
            let counter = mirrored.counter.unwrap_or_default();
            let uid = mirrored.uid.map(|uid| uid.to_string()).unwrap_or_default();
            let read = serde_json::json!({
                "enc_mode": "AES", "file_data": null, "read_ctr": counter, "tt_status": "", "uid": uid,
            });
            read.to_string()
        },
    );
    (StatusCode::OK, body)
}

/// A naive verifier: no session key, no counter, and the even bytes of the MAC.
async fn naive(Query(parameters): Query<Parameters>) -> (StatusCode, &'static str) {
    let full = cmac(&AesKey::FACTORY, b"");
    let even: [u8; 8] = std::array::from_fn(|i| full[2 * i]);
    let genuine = read(&parameters)
        .is_some_and(|(mirrored, mac)| mirrored.uid.is_some() && mac == hex(&even));
    if genuine {
        (StatusCode::OK, "<p>Genuine</p>")
    } else {
        (StatusCode::OK, "<p>Fake</p>")
    }
}

async fn judged(router: Router) -> Run {
    let server = Server::start(|_| router).await;
    let template = format!("{}/api/tag?picc_data={{picc}}&cmac={{mac}}", server.base);
    let arguments = ["--verifier", &template, "--other-uid", "04958CAA5C5E80"];
    let run = judge(&arguments).await;
    assert_eq!(run.ran.code, Some(1), "{:?}", run.ran);
    run
}

/// Failures of every verifier that stores no counter.
const REPLAYS: [&str; 7] = [
    "counter-backwards",
    "counter-third-byte-backwards",
    "replay",
    "replay-at-once",
    "replay-later",
    "replay-lower-case",
    "replay-other-picc",
];

#[tokio::test]
async fn other_verifiers_fail_the_checks_that_the_guide_lists() {
    let sdm_backend = judged(Router::new().fallback(sdm_backend)).await;
    let naive = judged(Router::new().fallback(naive)).await;

    let mut expected = [&REPLAYS[..], &["picc-needs-counter"]].concat();
    expected.sort_unstable();
    assert_eq!(sdm_backend.failed(), expected, "{}", sdm_backend.ran.stdout);

    let more = [
        "counter-order",
        "genuine-code",
        "mac-odd-bytes",
        "mac-of-another-chip",
        "mac-of-another-read",
        "picc-needs-counter",
        "session-key",
        "uid-order",
        "vector-an12196-table-5",
    ];
    let mut expected = [&REPLAYS[..], &more].concat();
    expected.sort_unstable();
    assert_eq!(naive.failed(), expected, "{}", naive.ran.stdout);

    // The table in the guide is the printed one.
    let table = table(&[("sdm-backend", &sdm_backend), ("naive", &naive)]);
    println!("{table}");
    assert!(
        GUIDE.contains(&table),
        "the guide lacks this table:\n{table}"
    );
}

/// A table of the checks that any of the verifiers fails.
fn table(runs: &[(&str, &Run)]) -> String {
    let mut names: Vec<_> = runs.iter().flat_map(|(_, run)| run.failed()).collect();
    names.sort_unstable();
    names.dedup();
    let verifiers: Vec<_> = runs.iter().map(|(verifier, _)| *verifier).collect();
    let heading = format!("| Check | {} |", verifiers.join(" | "));
    let mut lines = vec![heading, format!("|---|{}", "---|".repeat(runs.len()))];
    for name in names {
        let mut line = format!("| `{name}` |");
        for (_, run) in runs {
            let fails = run.failed().contains(&name);
            line += if fails { " fails |" } else { " passes |" };
        }
        lines.push(line);
    }
    lines.join("\n")
}
