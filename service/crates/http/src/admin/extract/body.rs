//! Request bodies of the admin API. They are limited in size, and errors explain every mistake.

use std::borrow::Cow;
use std::fmt::Display;
use std::marker::PhantomData;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, OptionalFromRequest, Request};
use axum::http::HeaderMap;
use hyper::body::Body as _;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::body::{Packed, is_of_type, media_type};
use crate::document::loosen;
use crate::error::ApiError;
use domain::field_error::FieldError;
use domain::strict_json::Object;

/// Maximum size of a JSON body of the admin API, in bytes.
const JSON_MAX: usize = 4 * 1024 * 1024;
/// Maximum size of a table, in bytes.
const TABLE_MAX: usize = 128 * 1024 * 1024;

/// A required JSON body.
pub(in crate::admin) struct Body<T>(pub(in crate::admin) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let bytes = json_bytes(request, "application/json").await?;
        let Object(body) = parse(&bytes)?;
        Ok(Self(body))
    }
}

/// An optional body: it may be missing, or `null`. Clients that always send `Content-Type` send it
/// without a body, too.
impl<T: DeserializeOwned, S: Send + Sync> OptionalFromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Option<Self>, ApiError> {
        if request.body().is_end_stream() {
            return Ok(None);
        }
        let bytes = json_bytes(request, "application/json").await?;
        let body: Option<Object<T>> = parse(&bytes)?;
        Ok(body.map(|Object(body)| Self(body)))
    }
}

/// A merge patch (RFC 7396): an object, `application/merge-patch+json` or plain JSON.
pub(in crate::admin) struct Patch(serde_json::Map<String, Value>);

impl<S: Send + Sync> FromRequest<S> for Patch {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let bytes = json_bytes(request, "application/merge-patch+json").await?;
        parse(&bytes).map(Self)
    }
}

/// A whole table, whose bytes decide its kind. It may have to be read twice.
pub(in crate::admin) struct Table(pub(in crate::admin) Packed);

impl<S: Send + Sync> FromRequest<S> for Table {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        if !may_be_table(request.headers()) {
            return Err(ApiError::UnsupportedMediaType("text/csv"));
        }
        let packed = crate::body::packed(request.into_body(), TABLE_MAX, time_for(TABLE_MAX));
        Ok(Self(packed.await?))
    }
}

/// Whether a body can be a table. Programs use many media types for the same file, and some send
/// none: the content decides. Only JSON is surely none, and a form in parts, which has the file
/// inside.
fn may_be_table(headers: &HeaderMap) -> bool {
    let sent = media_type(headers).unwrap_or_default().to_ascii_lowercase();
    let is_json = sent.ends_with("/json") || sent.ends_with("+json");
    !is_json && !sent.starts_with("multipart/")
}

impl Patch {
    /// The members that the patch changes.
    pub(in crate::admin) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Removes and returns a member that is not part of the resource. Without the member, returns
    /// the default.
    pub(in crate::admin) fn take<T: DeserializeOwned + Default>(
        &mut self,
        name: &'static str,
    ) -> Result<T, ApiError> {
        let Some(value) = self.0.shift_remove(name) else {
            return Ok(T::default());
        };
        serde_path_to_error::deserialize(value).map_err(|error| {
            let field = match field(error.path(), error.inner()) {
                None => name.to_owned(),
                Some(place) if place.starts_with('[') => format!("{name}{place}"),
                Some(place) => format!("{name}.{place}"),
            };
            ApiError::Invalid(FieldError::of(field, sentence(error.inner())))
        })
    }

    /// Applies the patch to `target`.
    pub(in crate::admin) fn apply<T: serde::Serialize + DeserializeOwned>(
        &self,
        target: &T,
    ) -> Result<T, FieldError> {
        let mut value = serde_json::to_value(target).map_err(unwritable)?;
        merge(&mut value, &self.0);
        let patched = serde_path_to_error::deserialize(value).map_err(|error| invalid(&error))?;
        self.refuse_reset(&patched)?;
        Ok(patched)
    }

    /// Refuses `null` for a member that cannot be empty. It would silently get its default: a tag
    /// in use would get another URL, and an archived tag would be active again.
    fn refuse_reset(&self, patched: &impl serde::Serialize) -> Result<(), FieldError> {
        let after = serde_json::to_value(patched).map_err(unwritable)?;
        let null = self.0.iter().filter(|(_, value)| value.is_null());
        for (name, _) in null {
            if after.get(name).is_some_and(|value| !is_empty(value)) {
                let why = format!("{name} cannot be null. Leave it out to keep what is there.");
                return Err(FieldError::of(name.clone(), why));
            }
        }
        Ok(())
    }

    /// The patch itself, for write-only members. `T` distinguishes a missing member from `null`.
    pub(in crate::admin) fn read<T: DeserializeOwned>(self) -> Result<T, ApiError> {
        serde_path_to_error::deserialize(Value::Object(self.0))
            .map_err(|error| ApiError::Invalid(invalid(&error)))
    }
}

/// The members of `T` in a merge patch, for the OpenAPI document. All are optional, and `null`
/// resets members that `T` does not require.
pub(in crate::admin) struct Partial<T>(PhantomData<T>);

impl<T: PartialSchema> PartialSchema for Partial<T> {
    fn schema() -> RefOr<Schema> {
        let mut schema = T::schema();
        if let RefOr::T(Schema::Object(object)) = &mut schema {
            loosen(object);
        }
        schema
    }
}

impl<T: ToSchema> ToSchema for Partial<T> {
    fn name() -> Cow<'static, str> {
        format!("{}Patch", T::name()).into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        T::schemas(schemas);
    }
}

/// For `deserialize_with`: distinguishes null from a missing member, if `T` is an `Option`.
pub(in crate::admin) fn sent<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Merges a patch (RFC 7396, section 2).
fn merge(target: &mut Value, patch: &serde_json::Map<String, Value>) {
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let Some(members) = target.as_object_mut() else {
        return;
    };
    for (name, value) in patch {
        match value {
            Value::Null => {
                members.shift_remove(name);
            }
            Value::Object(patch) => merge(members.entry(name).or_insert(Value::Null), patch),
            value => {
                members.insert(name.clone(), value.clone());
            }
        }
    }
}

/// Reads a JSON body with a larger limit: at most `max` bytes.
pub(in crate::admin) async fn json<T: DeserializeOwned>(
    request: Request,
    max: usize,
) -> Result<T, ApiError> {
    check_type(&request, &["application/json"])?;
    let bytes = read(request.into_body(), max).await?;
    let Object(value) = parse(&bytes)?;
    Ok(value)
}

async fn json_bytes(request: Request, expected: &'static str) -> Result<Bytes, ApiError> {
    check_type(&request, &[expected, "application/json"])?;
    read(request.into_body(), JSON_MAX).await
}

/// Refuses bodies of other types. The error names the first of the accepted types.
fn check_type(request: &Request, accepted: &[&'static str]) -> Result<(), ApiError> {
    if is_of_type(request.headers(), accepted) {
        Ok(())
    } else {
        Err(ApiError::UnsupportedMediaType(accepted[0]))
    }
}

/// Reads a whole body of at most `max` bytes. The time limit is a minute plus a second per 256 KiB
/// of `max`, for slow lines.
pub(in crate::admin) async fn read(body: axum::body::Body, max: usize) -> Result<Bytes, ApiError> {
    Ok(crate::body::read(body, max, time_for(max)).await?)
}

/// Time limit for a body of `max` bytes.
const fn time_for(max: usize) -> Duration {
    Duration::from_secs(60 + (max / (256 * 1024)) as u64)
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let mut why = invalid(&error);
        if let Some(message) = about_shape(error.inner(), why.field.as_deref(), bytes) {
            why.message = message;
        }
        ApiError::Invalid(why)
    })?;
    json.end()
        .map_err(|error| ApiError::Invalid(FieldError::whole(sentence(&error))))?;
    Ok(value)
}

/// The words about a value whose shape is wrong in JSON that is right. The parser blames the JSON.
fn about_shape(error: &serde_json::Error, field: Option<&str>, bytes: &[u8]) -> Option<String> {
    let field = field.filter(|_| serde_json::from_slice::<IgnoredAny>(bytes).is_ok())?;
    let text = error.to_string();
    if text.starts_with("expected value at") {
        Some(format!(
            "The body is invalid: {field} has no possible value, or not exactly one of its members. The documentation of the API lists them."
        ))
    } else if text.starts_with("trailing characters at") {
        Some(format!(
            "The body is invalid: {field} has too many elements."
        ))
    } else {
        None
    }
}

/// The error for a body that cannot be parsed, with the field that causes it.
fn invalid(error: &serde_path_to_error::Error<serde_json::Error>) -> FieldError {
    FieldError {
        field: field(error.path(), error.inner()).map(Cow::Owned),
        message: sentence(error.inner()),
    }
}

fn sentence(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    // Types of ours refuse a value in whole sentences, beside a field that says which one.
    match text.strip_suffix(&place).unwrap_or(&text) {
        own if own.ends_with('.') => own.to_owned(),
        _ => format!("The body is invalid: {text}."),
    }
}

/// The field where the parser stopped. If a field is missing or repeated, serde reports the object,
/// and names the field only in its message.
pub(in crate::admin) fn field(
    path: &serde_path_to_error::Path,
    error: &impl Display,
) -> Option<String> {
    let text = error.to_string();
    let named = ["missing field `", "duplicate field `"]
        .iter()
        .find_map(|start| text.strip_prefix(start)?.split_once('`'));
    let path = path.iter().next().map(|_| path.to_string());
    match (path, named) {
        (Some(path), Some((name, _))) => Some(format!("{path}.{name}")),
        (None, Some((name, _))) => Some(name.to_owned()),
        (path, None) => path,
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it is what map_err hands over"
)]
fn unwritable(error: serde_json::Error) -> FieldError {
    FieldError::whole(error.to_string())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use domain::mail::{InvalidMailAddress, MailAddress};
    use domain::notification::Channel;
    use serde_json::json;

    /// RFC 7396, appendix A, the rows whose patch is an object.
    #[test]
    fn a_patch_is_merged_as_rfc_7396_says() {
        for (target, patch, expected) in [
            (json!({"a":"b"}), json!({"a":"c"}), json!({"a":"c"})),
            (json!({"a":"b"}), json!({"b":"c"}), json!({"a":"b","b":"c"})),
            (json!({"a":"b"}), json!({"a":null}), json!({})),
            (
                json!({"a":"b","b":"c"}),
                json!({"a":null}),
                json!({"b":"c"}),
            ),
            (json!({"a":["b"]}), json!({"a":"c"}), json!({"a":"c"})),
            (json!({"a":"c"}), json!({"a":["b"]}), json!({"a":["b"]})),
            (
                json!({"a":{"b":"c"}}),
                json!({"a":{"b":"d","c":null}}),
                json!({"a":{"b":"d"}}),
            ),
            (json!({"a":[{"b":"c"}]}), json!({"a":[1]}), json!({"a":[1]})),
            (json!({"e":null}), json!({"a":1}), json!({"e":null,"a":1})),
            (
                json!({}),
                json!({"a":{"bb":{"ccc":null}}}),
                json!({"a":{"bb":{}}}),
            ),
        ] {
            let Value::Object(patch) = patch else {
                panic!("a patch is an object")
            };
            assert_eq!(Patch(patch).apply(&target), Ok(expected));
        }
    }

    #[test]
    fn a_value_is_refused_in_the_words_of_its_type_with_its_place() {
        type Lists = BTreeMap<String, Vec<MailAddress>>;
        let refused = |body: &str| match parse::<Lists>(body.as_bytes()) {
            Err(ApiError::Invalid(why)) => (why.field, why.message),
            other => panic!("{body}: {other:?}"),
        };
        let own = InvalidMailAddress.to_string();
        let (field, message) = refused(r#"{"to": ["a@example.com", "b"]}"#);
        assert_eq!((field.as_deref(), message), (Some("to[1]"), own.clone()));
        let (field, message) = refused(r#"{"to": 7}"#);
        assert_eq!(field.as_deref(), Some("to"));
        assert!(
            message.starts_with("The body is invalid: invalid type"),
            "{message}"
        );
        // A member of a patch that is taken out of it.
        let mut patch = Patch(serde_json::Map::new());
        patch.0.insert("channel".to_owned(), json!({"mail": ["b"]}));
        let Err(ApiError::Invalid(why)) = patch.take::<Lists>("channel") else {
            panic!("it is no address");
        };
        assert_eq!(
            (why.field.as_deref(), why.message),
            (Some("channel.mail[0]"), own)
        );
    }

    #[test]
    fn a_wrong_shape_is_no_mistake_of_the_json() {
        type Bodies = BTreeMap<String, Channel>;
        type Sizes = BTreeMap<String, [u8; 2]>;
        let refused = |parsed: Result<(), ApiError>| match parsed {
            Err(ApiError::Invalid(why)) => (why.field, why.message),
            other => panic!("{other:?}"),
        };
        for value in ["{}", "null", r#"{"mail": ["a@b.example"], "chat": "b"}"#] {
            let body = format!(r#"{{"channel": {value}}}"#);
            let (field, message) = refused(parse::<Bodies>(body.as_bytes()).map(drop));
            assert_eq!(field.as_deref(), Some("channel"), "{value}");
            assert!(message.contains("exactly one of its members"), "{message}");
        }
        let (_, message) = refused(parse::<Sizes>(br#"{"mm": [1, 2, 3]}"#).map(drop));
        assert!(message.contains("mm has too many elements"), "{message}");
        let (_, message) = refused(parse::<Bodies>(br#"{"channel": }"#).map(drop));
        assert!(message.contains("expected value at line 1"), "{message}");
    }
}
