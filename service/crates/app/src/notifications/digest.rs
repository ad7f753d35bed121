//! A digest of alerts.

use super::page::Page;
use domain::notification::{AlertCount, Message, NotificationFields, add_alert};
use domain::plural::counted;
use domain::webhook::EventKind;
use storage::ClaimedMessage;

/// The digest of all mails in this attempt; `None` if there is only one, which is sent as it is.
pub(super) fn of_joined(
    claimed: &ClaimedMessage,
    host: &str,
) -> Result<Option<Message>, askama::Error> {
    if claimed.joined.is_empty() {
        return Ok(None);
    }
    let joined = claimed.joined.iter();
    let joined = joined.map(|mail| (mail.message_id, &mail.alerts));
    let mut mails: Vec<_> = joined.collect();
    mails.push((claimed.message_id, &claimed.alerts));
    // The words are those of the last alert.
    mails.sort_unstable_by_key(|(message, _)| *message);
    let mut alerts = Vec::new();
    for count in mails.into_iter().flat_map(|(_, counts)| counts) {
        add_alert(&mut alerts, count.clone());
    }
    page(&claimed.fields, &alerts, host).message(true).map(Some)
}

/// The digest of these alerts. `host` names the service.
pub(super) fn page(fields: &NotificationFields, alerts: &[AlertCount], host: &str) -> Page {
    let zone = fields.zone();
    let all: u64 = alerts.iter().map(|count| count.alerts).sum();
    let title = match alerts {
        [one] => words(one.kind).to_owned(),
        _ => counted(all, "alert"),
    };
    let lines = alerts.iter().map(|count| {
        let AlertCount {
            kind,
            alerts,
            first_at,
            last_at,
            message,
            tag_id,
        } = count;
        let times = if *alerts == 1 {
            format!("at {}", zone.shown(*last_at))
        } else {
            format!(
                "{alerts} times from {} to {}",
                zone.shown(*first_at),
                zone.shown(*last_at)
            )
        };
        let of_tag = tag_id.map_or_else(String::new, |tag| format!(" Tag {tag}."));
        format!("{}, {times}: {message}{of_tag}", words(*kind))
    });
    Page {
        subject: format!("Tapdesk: {title}"),
        lines: lines.collect(),
        chart: None,
        tables: Vec::new(),
        foot: format!(
            "Sent by Tapdesk at {host}. Times are those of {}. Further alerts come together in the next message.",
            zone.name()
        ),
        title,
    }
}

/// A type of alerts as a title.
const fn words(kind: EventKind) -> &'static str {
    match kind {
        EventKind::AlertWebhookDisabled => "A webhook was switched off",
        EventKind::AlertRootNotBackedUp => "The encoding root is in no backup",
        EventKind::AlertBackupFailed => "A scheduled backup failed",
        EventKind::AlertWriterFailed => "The database did not accept writes",
        EventKind::AlertCertificateFailed => "A certificate cannot be renewed",
        EventKind::AlertDiskLow => "The disk has little free space",
        EventKind::AlertInlayGuessed => "Many wrong codes arrived for an inlay",
        EventKind::AlertCopiedUrl => "A one-time URL is opened repeatedly",
        EventKind::AlertUnlistedLimit => "Taps created as many tags as a day allows",
        // A notification takes no other types.
        EventKind::TapVerified
        | EventKind::TapNotVerified
        | EventKind::TapNotChecked
        | EventKind::TagUpdated
        | EventKind::TagTampered
        | EventKind::InlayEncoded
        | EventKind::SubmissionCreated
        | EventKind::Test => "An event",
    }
}
