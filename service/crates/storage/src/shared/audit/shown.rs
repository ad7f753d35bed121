//! Resources as the audit log shows them: without keys, except the parts that the API shows, too.

use serde_json::{Value, json};

use crate::SealedNotification;
use domain::audit::Note;
use domain::experience::{Content, ExperienceFields};
use domain::inventory::{InlayFields, MasterKeyFields, SealedKeys, UrlTemplateFields};
use domain::notification::NotificationFields;
use domain::webhook::WebhookFields;
use inlay::Uid;
use inlay::key::KeyFingerprint;

fn check(key: KeyFingerprint) -> String {
    key.check().to_string()
}

pub(in crate::shared) fn inlay(uid: Uid, fields: &InlayFields) -> Value {
    let keys = fields.keys.as_ref();
    json!({
        "uid": uid.to_string(),
        "technology": fields.technology,
        "mode": fields.mode,
        "url_template_id": fields.url_template_id,
        "tag_id": fields.tag_id,
        "mirror": fields.mirror,
        "mac_from": fields.mac_from,
        "master_key_id": keys.and_then(SealedKeys::master_key_id),
        "meta_key_check": keys.and_then(SealedKeys::meta).map(check),
        "file_key_check": keys.map(|keys| check(keys.file())),
        "other_keys_check": fields.other_keys.as_ref().map(|keys| check(keys.fingerprint)),
        "blocked": fields.blocked_at.is_some(),
    })
}

pub(in crate::shared) fn url_template(fields: &UrlTemplateFields) -> Value {
    let keys = fields.keys.iter().map(|key| check(key.fingerprint));
    json!({
        "name": fields.name,
        "template": fields.settings(),
        "meta_key_checks": keys.collect::<Vec<_>>(),
        "unlisted": fields.unlisted.mode,
        "create_limit": fields.unlisted.create_limit,
        "experience_id": fields.unlisted.place.experience_id,
        "group_id": fields.unlisted.place.group_id,
        "shared_file_key_check": fields.unlisted.file_key.as_ref().map(|key| check(key.fingerprint)),
    })
}

pub(in crate::shared) fn master_key(fields: &MasterKeyFields) -> Value {
    json!({
        "name": fields.name,
        "derivation": fields.derivation,
        "key_check": check(fields.key.fingerprint),
    })
}

/// Shows only the origin of an endpoint's URL, because the rest of the URL may be secret.
pub(in crate::shared) fn webhook(fields: &WebhookFields) -> Value {
    let origin = url::Url::parse(&fields.url).map(|url| url.origin().ascii_serialization());
    json!({
        "origin": origin.unwrap_or_default(),
        "events": fields.events,
        "filter": fields.filter,
        "enabled": fields.enabled,
        "include": fields.include,
    })
}

/// Shows a chat by its origin, which is all that the stored fields have of its URL.
pub(in crate::shared) fn notification(fields: &NotificationFields) -> Value {
    json!(fields)
}

/// The change of a notification. Another URL of a chat may have the same origin.
pub(in crate::shared) fn notification_change(
    before: &SealedNotification,
    after: &SealedNotification,
) -> Note {
    let mut shown = notification(&after.fields);
    if before.chat.is_some() && after.chat.is_some() && before.chat != after.chat {
        shown["chat"] = json!("changed");
    }
    Note::changed(&notification(&before.fields), &shown)
}

pub(in crate::shared) fn experience(fields: &ExperienceFields) -> Value {
    json!({"name": fields.name, "content": content(&fields.content)})
}

pub(in crate::shared) fn content(content: &Content) -> Value {
    serde_json::from_str(&content.to_json()).unwrap_or_default()
}
