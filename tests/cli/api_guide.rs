//! The programs and the events of the API guide, as they stand there.

mod events;
mod receivers;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::json;
use tapdesk_tests::{Client, PATIENCE, Receiver, ServiceProcess};
use tokio::process::Command;

use super::{launch, run_at};

const GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../service/docs/guides/api");

/// The chapters whose programs print the same in each language.
const CHAPTERS: [&str; 7] = [
    "changes.md",
    "clocks.md",
    "lists.md",
    "problems.md",
    "repeats.md",
    "tokens.md",
    "webhooks.md",
];
const LANGUAGES: [&str; 4] = ["sh", "mjs", "py", "php"];

/// The text of a chapter.
fn chapter(name: &str) -> String {
    std::fs::read_to_string(Path::new(GUIDE).join(name)).expect("a chapter")
}

/// The programs of a chapter by their names, in its order.
fn programs(chapter: &str) -> Vec<(String, String)> {
    let programs = chapter.split("\n**`").skip(1).filter_map(|rest| {
        let (name, rest) = rest.split_once("`**\n\n```")?;
        let (_language, rest) = rest.split_once('\n')?;
        let (program, _) = rest.split_once("\n```\n")?;
        Some((name.to_owned(), format!("{program}\n")))
    });
    programs.collect()
}

/// The interpreter of a program and its arguments, by the extension of its name.
fn interpreter(name: &str) -> &'static [&'static str] {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("sh") => &["bash"],
        Some("mjs") => &["node"],
        Some("py") => &["python3", "-B"],
        Some("php") => &["php"],
        _ => panic!("{name} is in no language"),
    }
}

/// Writes a program into the folder of a service.
fn written(service: &ServiceProcess, (name, text): &(String, String)) -> PathBuf {
    let path = service.folder().join(name);
    std::fs::write(&path, text).expect("the program can be written");
    path
}

/// Runs a program for a service. Returns its output.
async fn run_program(
    service: &ServiceProcess,
    program: &(String, String),
    environment: &[(&str, &str)],
) -> String {
    let path = written(service, program);
    let [interpreter, arguments @ ..] = interpreter(&program.0) else {
        panic!("{} has no interpreter", program.0)
    };
    let mut command = Command::new(interpreter);
    command
        .args(arguments)
        .arg(path)
        .env("TAPDESK_URL", service.base())
        .env("TAPDESK_TOKEN", service.admin_token())
        .envs(environment.iter().copied())
        .kill_on_drop(true);
    let output = tokio::time::timeout(PATIENCE, command.output());
    let output = output.await.expect("it ends in time").expect("it starts");
    assert!(output.status.success(), "{}: {output:?}", program.0);
    assert!(output.stderr.is_empty(), "{}: {output:?}", program.0);
    String::from_utf8(output.stdout).expect("it prints text")
}

/// Runs the programs of a chapter one after the other, and compares what they print.
async fn runs(service: &ServiceProcess, name: &str, environment: &[(&str, &str)]) {
    let text = chapter(name);
    let (_, printed) = text
        .split_once("Each prints:\n\n```text\n")
        .expect("output");
    let (printed, _) = printed.split_once("```\n").expect("its end");
    let stem = name.trim_end_matches(".md");
    let programs = programs(&text);
    for language in LANGUAGES {
        let name = format!("{stem}.{language}");
        let program = programs.iter().find(|(named, _)| *named == name);
        let program = program.unwrap_or_else(|| panic!("there is no {name}"));
        let said = run_program(service, program, environment).await;
        assert_eq!(without_secrets(&said), printed, "{name}");
    }
}

/// Output whose secrets are written as in the guide.
fn without_secrets(said: &str) -> String {
    let lines = said.lines().map(|line| match line.strip_prefix("whsec_") {
        Some(secret) if secret.len() > 30 => "whsec_...\n".to_owned(),
        _ => format!("{line}\n"),
    });
    lines.collect()
}

/// A service with the demonstration data, which may deliver to this machine.
async fn with_demo() -> ServiceProcess {
    let launch = launch().env("TAPDESK_PRIVATE_WEBHOOKS", "true");
    let service = launch.start().await;
    run_at(&service, &["demo"]).await.good();
    service
}

async fn five_tags(service: &Client) {
    for number in [3, 1, 5, 2, 4] {
        let tag = json!({"name": format!("Bottle {number}")});
        service.admin_create("/tags", tag).await;
    }
}

#[tokio::test]
async fn the_programs_print_what_the_guide_shows() {
    let service = with_demo().await;
    let receiver = Receiver::start().await;
    five_tags(&service).await;
    // Others create tags, so the list comes first.
    runs(&service, "lists.md", &[]).await;
    for name in CHAPTERS.into_iter().filter(|name| *name != "lists.md") {
        let url = receiver.url();
        runs(&service, name, &[("WEBHOOK_URL", &url)]).await;
    }
    let tested = receiver.wait_for(LANGUAGES.len()).await;
    assert_eq!(tested[0].json()["type"], "webhook.test");
}

#[test]
fn every_chapter_with_programs_is_run() {
    let files = std::fs::read_dir(GUIDE).expect("the guide");
    let names = files.map(|file| file.expect("a file").file_name().into_string());
    let names: BTreeSet<String> = names.map(|name| name.expect("text")).collect();
    // Others run these.
    let elsewhere = ["events.md", "local.md"];
    let expected: BTreeSet<String> = CHAPTERS
        .into_iter()
        .chain(elsewhere)
        .map(str::to_owned)
        .collect();
    assert_eq!(names, expected);
    for name in CHAPTERS {
        let text = chapter(name);
        let fences = text
            .lines()
            .filter(|line| ["```bash", "```js", "```python", "```php"].contains(line));
        assert_eq!(fences.count(), programs(&text).len(), "{name}");
    }
}
