//! Each event is triggered, and has the body that the guide shows.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tapdesk_service::webhook::EventKind;
use tapdesk_tests::{Receiver, ServiceProcess, eventually};

use super::super::listen::Listening;
use super::super::run_at;
use super::{GUIDE, chapter, programs, run_program, with_demo};

const EVENTS: &str = "events.md";
/// The time of the events in the guide.
const TIME: &str = "2026-01-01T12:00:00.123Z";

/// The arguments that trigger an event, as the guide has them; of an alert that it leaves out, only
/// the name.
fn arguments(local: &str, name: &str) -> Vec<String> {
    let command = format!("tapdesk-service trigger {name}");
    let shown = local
        .lines()
        .find(|line| line.split(" --tag").next() == Some(command.as_str()));
    let shown = shown.unwrap_or(&command);
    let words = shown.split_whitespace().skip(1);
    words.map(str::to_owned).collect()
}

/// Triggers an event. Returns its body as it arrives.
async fn triggered(service: &ServiceProcess, receiver: &Receiver, name: &str) -> Value {
    let before = receiver.received().len();
    let arguments = arguments(&chapter("local.md"), name);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    run_at(service, &arguments).await.good();
    // An update, a form and an opened seal come after the events of their taps.
    eventually("the event that was triggered", async || {
        let latest = receiver.received().split_off(before);
        let mut bodies = latest.iter().map(tapdesk_tests::Received::json);
        bodies.find(|body| body["type"] == name)
    })
    .await
}

/// The place of an event's body in the guide.
fn body<'a>(guide: &'a str, name: &str) -> &'a str {
    let (_, section) = guide
        .split_once(&format!("\n## {name}\n"))
        .unwrap_or_else(|| panic!("the guide has no {name}"));
    let (_, body) = section.split_once("```json\n").expect("a body");
    body.split_once("\n```\n").expect("its end").0
}

/// Whether a text is a time, such as [`TIME`].
fn is_time(text: &str) -> bool {
    text.ends_with('Z') && text.get(10..11) == Some("T") && text.get(4..5) == Some("-")
}

/// An event whose members `change` has changed, at each depth.
fn each(value: Value, change: fn(Value) -> Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter();
            Value::Object(
                members
                    .map(|(name, member)| (name, each(member, change)))
                    .collect(),
            )
        }
        Value::Array(items) => items.into_iter().map(|item| each(item, change)).collect(),
        other => change(other),
    }
}

/// An event without its numbers and times, which differ from run to run.
fn comparable(event: Value) -> Value {
    each(event, |value| match value {
        Value::Number(_) => 0.into(),
        Value::String(text) if is_time(&text) => TIME.into(),
        other => other,
    })
}

#[tokio::test]
async fn each_event_is_triggered_and_has_the_body_of_the_guide() {
    let service = with_demo().await;
    let local = programs(&chapter("local.md"));
    let [prepare] = &*local else {
        panic!("another program than prepare.sh: {local:?}")
    };
    run_program(&service, prepare, &[]).await;
    let receiver = Receiver::start().await;
    let listening = Listening::to(&service, &receiver.url(), &[]).await;
    let mut guide = chapter(EVENTS);
    let update = std::env::var_os("UPDATE_EVENTS").is_some();
    for (_, name) in EventKind::ALL {
        let sent = triggered(&service, &receiver, name).await;
        let shown = body(&guide, name);
        if update {
            let sent = each(sent, |value| match value {
                // The times of samples have no milliseconds.
                Value::String(text) if is_time(&text) && text.contains('.') => TIME.into(),
                other => other,
            });
            let sent = serde_json::to_string_pretty(&sent).expect("JSON");
            guide = guide.replace(shown, &sent);
        } else {
            let shown: Value = serde_json::from_str(shown).expect("JSON");
            assert_eq!(
                comparable(sent),
                comparable(shown),
                "{name} has another body in the guide: run this test once with UPDATE_EVENTS=1"
            );
        }
    }
    if update {
        fs::write(Path::new(GUIDE).join(EVENTS), guide).expect("the guide can be written");
    }
    for one in receiver.received() {
        one.verify(&listening.secret);
    }
}

#[test]
fn the_guide_has_each_event_once_and_no_other() {
    let guide = chapter(EVENTS);
    let headings = guide.lines().filter_map(|line| line.strip_prefix("## "));
    let headings: Vec<&str> = headings.collect();
    assert_eq!(headings, EventKind::ALL.map(|(_, name)| name));
}
