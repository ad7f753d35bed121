//! Resources as the audit log shows them: without keys, except the parts that the API shows, too.

use serde_json::{Value, json};

use domain::experience::{Content, ExperienceFields};
use domain::inventory::{InlayFields, MasterKeyFields, SealedKeys, UrlTemplateFields};
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
        "blocked": fields.blocked_at.is_some(),
    })
}

pub(in crate::shared) fn url_template(fields: &UrlTemplateFields) -> Value {
    let keys = fields.keys.iter().map(|key| check(key.fingerprint));
    json!({
        "name": fields.name,
        "template": fields.settings(),
        "meta_key_checks": keys.collect::<Vec<_>>(),
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

pub(in crate::shared) fn experience(fields: &ExperienceFields) -> Value {
    json!({"name": fields.name, "content": content(&fields.content)})
}

pub(in crate::shared) fn content(content: &Content) -> Value {
    serde_json::from_str(&content.to_json()).unwrap_or_default()
}
