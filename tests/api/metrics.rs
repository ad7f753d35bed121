//! Metrics as an operator scrapes them, and the dashboard and alerts that use them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use serde_json::{Value, json};
use tapdesk_service::housekeeping;
use tapdesk_tests::{Answering as _, Client, TestService, eventually, skip};
use tempfile::TempDir;

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn read(path: &str) -> String {
    fs::read_to_string(folder(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Makes a tap, a payload call, an update, and an update that is refused.
async fn traffic(service: &TestService) {
    let (tag, mut inlay) = service.bottle().await;
    let tapped = service.tap(&inlay.url(&tag)).await;
    service.payload(tapped.key()).await;
    let data = json!({"registered": "true"});
    service.update(tapped.key(), data.clone()).await.expect(200);
    service.update(tapped.key(), data).await.expect(400);
    // A second tap is served from the cache.
    service.tap(&inlay.url(&tag)).await;
}

/// Metrics by name, each with its kind and its labels.
type Metrics = BTreeMap<String, (String, BTreeSet<String>)>;

/// The metrics of a scrape, by name.
fn scraped(text: &str) -> Metrics {
    let mut metrics = Metrics::new();
    let mut name = String::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (family, kind) = rest.split_once(' ').expect("a kind");
            name = match kind {
                "counter" => format!("{family}_total"),
                _ => family.to_owned(),
            };
            metrics.insert(name.clone(), (kind.to_owned(), BTreeSet::new()));
        } else if !line.starts_with('#') {
            assert!(line.starts_with(&name), "{line} is not of {name}");
            let labels = line
                .split_once('{')
                .and_then(|(_, rest)| rest.split_once("} "));
            let labels = labels.map_or("", |(labels, _)| labels);
            let names = labels
                .split("\",")
                .filter_map(|label| label.split_once('='));
            let known = metrics.get_mut(&name).expect("its kind comes first");
            known.1.extend(
                names
                    .map(|(label, _)| label.to_owned())
                    .filter(|name| name != "le"),
            );
        }
    }
    metrics
}

/// The metrics in a document's table.
fn documented(text: &str) -> Metrics {
    let rows = text.lines().filter(|line| line.starts_with("| `tapdesk_"));
    let rows = rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let labels = cells[3].split('`').skip(1).step_by(2);
        let labels = labels.map(str::to_owned).collect();
        (
            cells[1].trim_matches('`').to_owned(),
            (cells[2].to_owned(), labels),
        )
    });
    rows.collect()
}

#[tokio::test]
async fn the_table_of_metrics_is_what_a_scrape_finds() {
    let service = TestService::start().await;
    traffic(&service).await;
    housekeeping::sweep(service.service()).await.unwrap();
    service.metrics().await;
    let found = scraped(&service.metrics().await);
    assert_eq!(
        documented(&read("service/docs/reference/metrics.md")),
        found
    );
}

#[tokio::test]
async fn the_metrics_count_what_happened() {
    let service = TestService::start().await;
    traffic(&service).await;
    let metrics = service.metrics().await;
    let value = |start: &str| {
        let mut lines = metrics.lines().filter_map(|line| line.strip_prefix(start));
        let value = lines
            .next()
            .unwrap_or_else(|| panic!("no {start} in {metrics}"));
        value.trim().parse::<u64>().expect("a number")
    };
    let tap = r#"tapdesk_http_request_seconds_count{route="/t/{slug}",outcome="ok"}"#;
    assert_eq!(value(tap), 2);
    let refused =
        r#"tapdesk_http_request_seconds_count{route="/v2/interactions/data",outcome="refused"}"#;
    assert_eq!(value(refused), 1);
    assert!(value("tapdesk_commit_seconds_count ") >= 3);
    assert!(value("tapdesk_commit_writes_count ") >= 3);
    assert!(value("tapdesk_tag_cache_misses_total ") >= 1);
    for calm in [
        "storage_panics",
        "request_panics",
        "task_panics",
        "events_lost",
    ] {
        assert_eq!(value(&format!("tapdesk_{calm}_total ")), 0);
    }
    eventually("the database is up", async || {
        let metrics = service.metrics().await;
        metrics.contains("\ntapdesk_database_up 1\n").then_some(())
    })
    .await;
    // On PostgreSQL, a busy node may not know for a moment that its cache is current.
    let tag = service.redirecting_tag(Value::Null).await;
    eventually("a tap is served from the cache", async || {
        service.tap(&tag.path()).await;
        let metrics = service.metrics().await;
        let start = "tapdesk_tag_cache_hits_total ";
        let hits = metrics.lines().find_map(|line| line.strip_prefix(start));
        (hits?.trim().parse::<u64>().ok()? > 0).then_some(())
    })
    .await;
}

/// The service is closed, but the process still runs, as when its database is gone.
#[tokio::test]
async fn a_database_that_is_gone_is_down_and_what_it_refuses_is_measured() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    service.service().close().await;
    assert_eq!(service.tap(&inlay.url(&tag)).await.status, 503);
    let metrics = service.metrics().await;
    for line in [
        "tapdesk_database_up 0",
        r#"tapdesk_http_request_seconds_count{route="/t/{slug}",outcome="failed"} 1"#,
    ] {
        assert!(metrics.contains(line), "no {line} in {metrics}");
    }
}

/// A Prometheus that scrapes a test service, with the configuration that operators get. Dropping it
/// ends it.
struct Prometheus {
    process: Child,
    client: Client,
    _folder: TempDir,
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Prometheus {
    /// Starts one. `None` if this machine has no Prometheus, so that the test is skipped.
    fn start(service: &TestService) -> Option<Self> {
        let own = tempfile::tempdir().expect("a folder");
        let path = |name: &str| own.path().join(name);
        let token = path("token");
        fs::write(&token, service.admin_token()).expect("it is ours");
        fs::copy(folder("service/deploy/alerts.yml"), path("alerts.yml")).expect("the alerts");
        let mut configuration = read("service/deploy/prometheus.yml");
        for (ours, test) in [
            (
                "/etc/tapdesk/prometheus.token",
                &*token.display().to_string(),
            ),
            ("127.0.0.1:8787", service.authority()),
            ("scrape_interval: 15s", "scrape_interval: 1s"),
            ("evaluation_interval: 15s", "evaluation_interval: 1s"),
        ] {
            assert!(configuration.contains(ours), "no {ours}");
            configuration = configuration.replace(ours, test);
        }
        fs::write(path("prometheus.yml"), configuration).expect("it is ours");
        let process = Command::new("prometheus")
            .arg("--config.file")
            .arg(path("prometheus.yml"))
            .arg("--storage.tsdb.path")
            .arg(path("data"))
            .arg("--web.listen-address=127.0.0.1:0")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let Ok(mut process) = process else {
            skip("Prometheus is not installed");
            return None;
        };
        let mut log = BufReader::new(process.stderr.take().expect("it is piped")).lines();
        let address = log.find_map(|line| {
            let line = line.expect("text");
            let (_, address) = line.split_once("msg=\"Listening on\" address=")?;
            Some(address.to_owned())
        });
        // It listens before it answers questions.
        let ready = log.any(|line| line.is_ok_and(|line| line.contains("Server is ready")));
        assert!(ready, "Prometheus ends");
        // Nobody reads the rest of the log, and a full pipe would stop the process.
        std::thread::spawn(move || log.for_each(drop));
        let address = address.expect("it listens");
        Some(Self {
            process,
            client: Client::new(format!("http://{address}"), ""),
            _folder: own,
        })
    }

    /// The number of series that an expression finds at this moment.
    async fn series(&self, expression: &str) -> usize {
        let form = self
            .client
            .post_form("/api/v1/query", &[("query", expression)]);
        let answer = form.answer().await;
        let answer = answer.json();
        assert_eq!(answer["status"], "success", "{expression}: {answer}");
        answer["data"]["result"].as_array().map_or(0, Vec::len)
    }
}

/// Every expression of the dashboard, as Grafana sends it.
fn dashboard() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(&read("service/deploy/dashboard.json")).unwrap();
    let panels = dashboard["panels"].as_array().expect("panels");
    let targets = panels
        .iter()
        .flat_map(|panel| panel["targets"].as_array().expect("targets"));
    let expressions = targets.map(|target| {
        let expression = target["expr"].as_str().expect("an expression");
        expression
            .replace("$__rate_interval", "1m")
            .replace("$instance", ".*")
    });
    expressions.collect()
}

/// The left side of each alert's comparison: it has data even while the alert does not fire.
fn alerts() -> Vec<String> {
    let rules = read("service/deploy/alerts.yml");
    let expressions = rules
        .lines()
        .filter_map(|line| line.trim().strip_prefix("expr: "));
    let compared = expressions.map(|expression| {
        let (compared, _) = [" > ", " == "]
            .iter()
            .find_map(|sign| expression.rsplit_once(sign))
            .expect("a comparison");
        compared.to_owned()
    });
    compared.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_expression_of_the_dashboard_and_the_alerts_finds_data_in_a_real_prometheus() {
    let service = TestService::start_with(|options| options.settings.rate_limit = None).await;
    let Some(prometheus) = Prometheus::start(&service) else {
        return;
    };
    let (dashboard, alerts) = (dashboard(), alerts());
    assert!(dashboard.len() > 20, "{dashboard:#?}");
    assert_eq!(alerts.len(), 17, "{alerts:#?}");
    let missing = Mutex::new([dashboard, alerts].concat());
    // A rate needs two scrapes of each series.
    eventually("every expression finds data", || async {
        traffic(&service).await;
        housekeeping::sweep(service.service()).await.unwrap();
        let tried = missing.lock().unwrap().clone();
        let mut left = Vec::new();
        for expression in tried {
            if prometheus.series(&expression).await == 0 {
                left.push(expression);
            }
        }
        println!("without data: {left:#?}");
        let found = left.is_empty().then_some(());
        *missing.lock().unwrap() = left;
        found
    })
    .await;
    let rules = prometheus.client.get("/api/v1/rules").answer().await.json();
    let rules = rules["data"]["groups"][0]["rules"].clone();
    let rules = rules.as_array().expect("rules");
    assert_eq!(rules.len(), 17);
    for rule in rules {
        assert_ne!(rule["health"], "err", "{rule}");
        let annotations = &rule["annotations"];
        assert!(annotations["description"].as_str().is_some(), "{rule}");
    }
}

#[test]
fn every_alert_fires_when_it_should_and_none_while_all_is_well() {
    let tested = Command::new("promtool")
        .args(["test", "rules", "alerts.test.yml"])
        .current_dir(folder("service/deploy"))
        .output();
    let Ok(tested) = tested else {
        return skip("promtool is not installed");
    };
    assert!(tested.status.success(), "{tested:?}");
    let tests = read("service/deploy/alerts.test.yml");
    let rules = read("service/deploy/alerts.yml");
    let names = rules
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- alert: "));
    for name in names {
        let fires = format!("      - alertname: {name}\n");
        assert!(tests.contains(&fires), "nothing tests {name}");
    }
}
