//! Mails to aiosmtpd, a mail server of others, which greylists and demands encryption and a login, as
//! Python's parser reads them.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{ServiceProcess, eventually};

use super::certificates::{Certified, certificate, trusting_launch};
use super::webhooks::root;

const PASSWORD: &str = "horse-battery-staple";
/// A name that needs several lines of a header, and would add one of its own.
const NAME: &str =
    "Grüner Veltliner, größter Jahrgang der Lage „Am Spiegel“ – 川\r\nBcc: all@example.com";
/// The same name in one line.
const NAME_SHOWN: &str =
    "Grüner Veltliner, größter Jahrgang der Lage „Am Spiegel“ – 川  Bcc: all@example.com";
/// Eight days, in milliseconds: a week ends in them.
const EIGHT_DAYS: i64 = 8 * 24 * 3_600_000;

/// A running mail server, which is stopped when this is dropped.
struct Library {
    child: Child,
    port: u16,
    journal: PathBuf,
}

impl Drop for Library {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Library {
    /// Starts it with files in this folder.
    fn start(folder: &Path, security: &str, certified: &Certified) -> Self {
        let certificate = folder.join(format!("{security}.pem"));
        std::fs::write(&certificate, &certified.pem).expect("the file can be written");
        let journal = folder.join(format!("{security}.journal"));
        let settings = json!({
            "security": security, "certificate": certificate, "journal": journal,
            "user": "anna", "password": PASSWORD,
        });
        let mut child = Command::new(root().join("target/venv/bin/python"))
            .arg(root().join("tests/mail_servers/server.py"))
            .arg(settings.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{error}; see .make/setup"));
        let mut port = String::new();
        let said = child.stdout.take().expect("it is piped");
        let said = BufReader::new(said).read_line(&mut port);
        said.expect("it says its port");
        Self {
            child,
            port: port.trim().parse().expect("it listens; see .make/setup"),
            journal,
        }
    }

    /// The lines of its journal.
    fn journal(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.journal).unwrap_or_default();
        let lines = text.lines().map(serde_json::from_str);
        lines.filter_map(Result::ok).collect()
    }

    /// The mails for a recipient.
    fn mails(&self, recipient: &str) -> Vec<Value> {
        let to = json!([recipient]);
        let mut mails = self.journal();
        mails.retain(|line| line["to"] == to);
        mails
    }

    /// Waits for the mail of a notification to its recipient, who is refused for the moment first.
    /// The clock goes forward by `step` milliseconds at each look until then, and by ten minutes
    /// once the service has stored the refusal. It must not overtake the lease of an attempt.
    async fn wait_for(
        &self,
        service: &ServiceProcess,
        notification: &Value,
        recipient: &str,
        step: i64,
    ) -> Value {
        eventually("the recipient is refused for the moment", async || {
            if step > 0 {
                advance(service, step).await;
            }
            let journal = self.journal();
            let refused = journal.iter().any(|line| line["refused"] == recipient);
            refused.then_some(())
        })
        .await;
        let path = format!("/notifications/{}", notification["id"]);
        eventually("the refusal is stored", async || {
            let failures = &service.admin_get(&path).await["failures"];
            (failures.as_array()?.len() == 1).then_some(())
        })
        .await;
        advance(service, 600_000).await;
        eventually("the mail arrives", async || self.mails(recipient).pop()).await
    }
}

/// Moves the clock of the service forward.
async fn advance(service: &ServiceProcess, milliseconds: i64) {
    let by = json!({"advance_ms": milliseconds});
    service.admin(Method::POST, "/clock", by).await.expect(200);
}

/// Checks the header and the structure that each mail has.
fn assert_well_formed(mail: &Value, recipient: &str) {
    for (name, expected) in [
        ("from", json!("Tapdesk <tapdesk@example.com>")),
        ("to", json!(recipient)),
        ("auto-submitted", json!("auto-generated")),
        ("mime-version", json!("1.0")),
        ("cc", Value::Null),
        ("bcc", Value::Null),
    ] {
        assert_eq!(mail["headers"][name], expected, "{name}: {mail}");
    }
    let id = mail["headers"]["message-id"].as_str().expect("a name");
    assert!(id.starts_with("<tapdesk.") && id.ends_with("@example.com>"));
    assert!(mail["date"].is_number(), "{mail}");
    assert_eq!(mail["defects"], json!([]), "{mail}");
    assert_eq!(mail["type"], "multipart/alternative");
    assert_eq!(mail["from"], "tapdesk@example.com");
    // Header lines are folded, and bodies encoded: RFC 5322, section 2.1.1.
    let longest = mail["longest_line"].as_u64();
    assert!(longest.is_some_and(|bytes| bytes <= 78), "{mail}");
    assert_eq!(
        (&mail["is_ascii"], &mail["bare_line_ends"]),
        (&json!(true), &json!(0))
    );
    assert_eq!(
        (&mail["encrypted"], &mail["user"]),
        (&json!(true), &json!("anna"))
    );
}

#[tokio::test]
async fn another_mail_server_takes_alerts_and_reports_and_another_parser_reads_them() {
    let (launch, issuer) = trusting_launch();
    let service = launch.env("TAPDESK_TEST_CLOCK", "1").start().await;
    let group = json!({"kind": "product", "name": NAME});
    let group = service.admin_create("/groups", group).await["id"].clone();
    for security in ["tls", "starttls"] {
        let certified = certificate("localhost", 2100, Some(&issuer));
        let library = Library::start(service.folder(), security, &certified);
        let settings = |password: &str| {
            json!({
                "host": "localhost", "port": library.port, "security": security, "user": "anna",
                "password": password, "from": "tapdesk@example.com",
            })
        };
        let set = async |password: &str| {
            let set = service.admin(Method::PUT, "/mail", settings(password));
            set.await.expect(200);
        };
        set("a wrong one").await;
        let to = json!({"to": "nobody@example.com"});
        let tested = service.admin(Method::POST, "/mail/test", to).await;
        assert_eq!(tested.expect(200)["step"], "login", "{security}");
        assert!(library.journal().is_empty());
        set(PASSWORD).await;

        let [alert, report] =
            ["alert", "report"].map(|kind| format!("{kind}.{security}@example.com"));
        let fields = json!({
            "kind": "alert", "events": ["alert.copied_url"], "channel": {"mail": [alert]},
        });
        let made = service.admin_create("/notifications", fields).await;
        let (tag, mut inlay) = service.bottle().await;
        service.open_as_copied(&inlay.url(&tag)).await;
        let mail = library.wait_for(&service, &made, &alert, 0).await;
        assert_well_formed(&mail, &alert);
        let subject = "Tapdesk: A one-time URL is opened repeatedly";
        assert_eq!(mail["headers"]["subject"], subject);
        assert_eq!(mail["alternatives"], json!(["text/plain", "text/html"]));
        for part in ["text", "html"] {
            let text = mail[part].as_str().expect("a text");
            assert!(text.contains(&format!("Tag {}.", tag.id)), "{part}: {text}");
        }

        let fields = json!({
            "kind": "report", "events": [], "every": "week", "group_id": group,
            "channel": {"mail": [report]},
        });
        let made = service.admin_create("/notifications", fields).await;
        advance(&service, EIGHT_DAYS).await;
        let mail = library.wait_for(&service, &made, &report, 1_000).await;
        assert_well_formed(&mail, &report);
        let subject = mail["headers"]["subject"].as_str().expect("a subject");
        let expected = format!("Tapdesk: 0 taps of {NAME_SHOWN}, 20");
        assert!(subject.starts_with(&expected), "{subject}");
        assert_eq!(
            mail["alternatives"],
            json!(["text/plain", "multipart/related"])
        );
        let leaves = mail["leaves"].as_array().expect("parts");
        let types: Vec<_> = leaves.iter().map(|part| &part["type"]).collect();
        assert_eq!(types, ["text/plain", "text/html", "image/png"]);
        let chart = &leaves[2];
        assert_eq!(
            (&chart["disposition"], &chart["id"]),
            (&json!("inline"), &json!("<chart>"))
        );
        assert!(chart["bytes"].as_u64() > Some(1_000), "{chart}");
        let html = mail["html"].as_str().expect("HTML");
        assert!(html.contains("src=\"cid:chart\"") && html.contains("größter"));
        assert!(mail["text"].as_str().expect("a text").contains(NAME_SHOWN));
        // Greylisting made no second mail.
        for recipient in [&alert, &report] {
            assert_eq!(library.mails(recipient).len(), 1, "{security}: {recipient}");
        }
    }
    assert!(!service.launch().log().contains(PASSWORD));
}
