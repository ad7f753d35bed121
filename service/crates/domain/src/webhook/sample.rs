//! Samples of events that no tap causes, for developers of receivers. A sample has the members of
//! a real event, and is marked as simulated.

use serde_json::{Map, Value, json};

use super::event::{EventKind, object};

/// The data of a sample of this type. `None` if a tap causes such an event: then a simulated tap
/// makes a better one.
pub fn sample(kind: EventKind) -> Option<Map<String, Value>> {
    let data = match kind {
        EventKind::TapVerified
        | EventKind::TapNotVerified
        | EventKind::TapNotChecked
        | EventKind::TagUpdated
        | EventKind::TagTampered
        | EventKind::SubmissionCreated => return None,
        EventKind::InlayEncoded => json!({
            "encoding_id": 12, "run_id": 3, "tag_id": 41, "inlay_id": 7, "counter": 1,
        }),
        EventKind::AlertWebhookDisabled => json!({
            "webhook_id": 5, "url": "https://shop.example.com", "reason": "failing",
            "failing_since": "2026-01-01T12:00:00Z",
            "message": "The endpoint failed for five days, and was switched off.",
        }),
        EventKind::AlertRootNotBackedUp => json!({
            "created_at": "2026-01-01T12:00:00Z",
            "message": "The encoding root is in no backup.",
        }),
        EventKind::AlertBackupFailed => json!({
            "destination": "/var/backups/tapdesk",
            "message": "The scheduled backup failed: the disk is full.",
        }),
        EventKind::AlertWriterFailed => json!({
            "message": "The database did not take writes for a while. It does again.",
        }),
        EventKind::AlertCertificateFailed => json!({
            "domain": "tags.example.com", "valid_until": "2026-01-31T12:00:00Z",
            "message": "No new certificate was obtained for tags.example.com.",
        }),
        EventKind::AlertDiskLow => json!({
            "free_mebibytes": 512, "limit_mebibytes": 1024,
            "message": "The disk of the database has 512 MiB left.",
        }),
        EventKind::AlertInlayGuessed => json!({
            "inlay_id": 7, "tag_id": 41,
            "message": "Too many wrong codes came for an inlay: its codes are not checked for an hour.",
        }),
        EventKind::AlertCopiedUrl => json!({
            "tag_id": 41, "counter": 8,
            "message": "A one-time URL is opened again and again: it was copied. Its taps are not verified.",
        }),
        EventKind::AlertUnlistedLimit => json!({
            "url_template_id": 2, "create_limit": 10_000,
            "message": "Taps have created 10000 tags with the URL template \"Bottles\" today, which is its limit.",
        }),
        EventKind::Test => json!({"message": "This is a test event."}),
    };
    let mut data = object(&data);
    data.insert("simulated".to_owned(), true.into());
    Some(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_alert_has_a_sample_with_a_message_and_its_mark() {
        for (kind, name) in EventKind::ALL {
            let sample = sample(kind);
            assert_eq!(
                sample.is_some(),
                kind.is_alert() || kind == EventKind::InlayEncoded,
                "{name}"
            );
            if let Some(data) = sample {
                assert_eq!(data["simulated"], true, "{name}");
                assert_eq!(data.contains_key("message"), kind.is_alert(), "{name}");
            }
        }
    }
}
