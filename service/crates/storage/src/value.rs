//! A column's value and a row of columns, in a form that both databases share.

use std::borrow::Cow;

use super::StorageError;
use domain::clock::Timestamp;
use domain::id::{
    EncodingId, EncodingRootId, EncodingRunId, ExperienceId, FactoryOrderId, GroupId, ImageId,
    ImportId, InlayId, InteractionId, MasterKeyId, NotificationId, PhoneId, SheetId, SubmissionId,
    TagId, TokenId, UrlTemplateId, VirtualInlayId, WebhookId,
};
use domain::inventory::SealedKey;
use domain::rolling_key::KeyHash;
use domain::text::Name;
use inlay::Uid;
use inlay::key::KeyFingerprint;

/// A column's value, or a statement's parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    /// No value: SQL `NULL`.
    Null,
    /// A signed 64-bit integer.
    Integer(i64),
    /// A boolean. SQLite stores it as 1 or 0.
    Flag(bool),
    /// A text in UTF-8.
    Text(Cow<'a, str>),
    /// A sequence of bytes.
    Bytes(Cow<'a, [u8]>),
}

/// The parameters of a statement: any types that convert into [`Value`].
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        [$($crate::value::Value::from($value)),*]
    };
}
pub(super) use values;

impl Value<'_> {
    /// A list as one parameter; the statement refers to it as `ids(?1)` or `texts(?1)`.
    pub(super) fn list<T: serde::Serialize>(items: impl IntoIterator<Item = T>) -> Self {
        let items: Vec<T> = items.into_iter().collect();
        // Numbers and texts can always be serialized as JSON.
        Self::from(serde_json::to_string(&items).unwrap_or_default())
    }

    /// A value that borrows from this one.
    fn as_borrowed(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Integer(number) => Value::Integer(*number),
            Self::Flag(flag) => Value::Flag(*flag),
            Self::Text(text) => Value::Text(Cow::Borrowed(text)),
            Self::Bytes(bytes) => Value::Bytes(Cow::Borrowed(bytes)),
        }
    }

    /// An owned value, which may outlive the row it was read from.
    pub(super) fn into_owned(self) -> Value<'static> {
        match self {
            Self::Null => Value::Null,
            Self::Integer(number) => Value::Integer(number),
            Self::Flag(flag) => Value::Flag(flag),
            Self::Text(text) => Value::Text(text.into_owned().into()),
            Self::Bytes(bytes) => Value::Bytes(bytes.into_owned().into()),
        }
    }

    /// A parameter for `LIMIT`: the maximum number of rows.
    pub(super) fn limit(items: usize) -> Self {
        Self::Integer(i64::try_from(items).unwrap_or(i64::MAX))
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<u32> for Value<'_> {
    fn from(number: u32) -> Self {
        Self::Integer(number.into())
    }
}

impl From<u64> for Value<'_> {
    fn from(number: u64) -> Self {
        Self::Integer(number.cast_signed())
    }
}

impl From<bool> for Value<'_> {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl<'a> From<&'a Name> for Value<'a> {
    fn from(name: &'a Name) -> Self {
        Self::from(&**name)
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(Cow::Borrowed(bytes))
    }
}

impl<'a> From<&'a Vec<u8>> for Value<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Self::Bytes(Cow::Borrowed(bytes))
    }
}

impl From<Vec<u8>> for Value<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(Cow::Owned(bytes))
    }
}

impl From<Timestamp> for Value<'_> {
    fn from(at: Timestamp) -> Self {
        Self::Integer(at.millis())
    }
}

impl From<Uid> for Value<'_> {
    fn from(uid: Uid) -> Self {
        Self::from(uid.bytes().to_vec())
    }
}

impl From<KeyFingerprint> for Value<'_> {
    fn from(fingerprint: KeyFingerprint) -> Self {
        Self::from(fingerprint.bytes().to_vec())
    }
}

impl<'a, T> From<Option<T>> for Value<'a>
where
    Value<'a>: From<T>,
{
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Self::from)
    }
}

/// A type that a column's value can be read as.
pub(super) trait FromValue: Sized {
    /// Converts the value; `None` if it has another type.
    fn from_value(value: Value<'_>) -> Option<Self>;
}

/// Accepts any value unchanged.
impl FromValue for Value<'static> {
    fn from_value(value: Value<'_>) -> Option<Self> {
        Some(value.into_owned())
    }
}

impl FromValue for i64 {
    fn from_value(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Integer(number) => Some(number),
            _ => None,
        }
    }
}

impl FromValue for u64 {
    fn from_value(value: Value<'_>) -> Option<Self> {
        i64::from_value(value)?.try_into().ok()
    }
}

impl FromValue for u32 {
    fn from_value(value: Value<'_>) -> Option<Self> {
        i64::from_value(value)?.try_into().ok()
    }
}

impl FromValue for bool {
    fn from_value(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Flag(flag) => Some(flag),
            Value::Integer(0) => Some(false),
            Value::Integer(1) => Some(true),
            _ => None,
        }
    }
}

impl FromValue for String {
    fn from_value(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Text(text) => Some(text.into_owned()),
            _ => None,
        }
    }
}

impl FromValue for Name {
    fn from_value(value: Value<'_>) -> Option<Self> {
        Self::new("A row", String::from_value(value)?).ok()
    }
}

impl FromValue for Vec<u8> {
    fn from_value(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Bytes(bytes) => Some(bytes.into_owned()),
            _ => None,
        }
    }
}

impl<const N: usize> FromValue for [u8; N] {
    fn from_value(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Bytes(bytes) => bytes.as_ref().try_into().ok(),
            _ => None,
        }
    }
}

impl FromValue for KeyHash {
    fn from_value(value: Value<'_>) -> Option<Self> {
        FromValue::from_value(value).map(Self)
    }
}

impl FromValue for Timestamp {
    fn from_value(value: Value<'_>) -> Option<Self> {
        i64::from_value(value).map(Self::from_millis)
    }
}

impl FromValue for Uid {
    fn from_value(value: Value<'_>) -> Option<Self> {
        FromValue::from_value(value).map(Self::from_bytes)
    }
}

impl FromValue for KeyFingerprint {
    fn from_value(value: Value<'_>) -> Option<Self> {
        FromValue::from_value(value).map(Self::from_bytes)
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
}

macro_rules! ids {
    ($($id:ident),+ $(,)?) => {$(
        impl From<$id> for Value<'_> {
            fn from(id: $id) -> Self {
                Self::Integer(id.get())
            }
        }

        impl FromValue for $id {
            fn from_value(value: Value<'_>) -> Option<Self> {
                i64::from_value(value)?.try_into().ok()
            }
        }
    )+};
}

ids! {
    ExperienceId, GroupId, ImageId, ImportId, InlayId, InteractionId, MasterKeyId, PhoneId, SheetId, TagId,
    TokenId, UrlTemplateId, VirtualInlayId, WebhookId, NotificationId, SubmissionId,
    EncodingId, EncodingRootId, EncodingRunId, FactoryOrderId,
}

/// A row that the database still holds. Columns are read in place and in any order, so only values
/// that are kept are copied.
pub(super) trait Columns {
    /// The value of a column.
    ///
    /// # Errors
    ///
    /// [`StorageError`] if the row has no such column, or its type is no [`Value`].
    fn value(&self, column: usize) -> Result<Value<'_>, StorageError>;

    /// The value of a column, as the type that it should have.
    fn column<T: FromValue>(&self, column: usize) -> Result<T, StorageError> {
        T::from_value(self.value(column)?).ok_or_else(|| unreadable(std::any::type_name::<T>()))
    }

    /// A text column that `read` parses. `what` names it in error logs.
    fn named<T>(
        &self,
        column: usize,
        what: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, StorageError> {
        self.optionally_named(column, what, read)?
            .ok_or_else(|| unreadable(what))
    }

    /// Like [`Self::named`], for a column that may be `NULL`.
    fn optionally_named<T>(
        &self,
        column: usize,
        what: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, StorageError> {
        match self.value(column)? {
            Value::Null => Ok(None),
            Value::Text(text) => read(&text).map(Some).ok_or_else(|| unreadable(what)),
            _ => Err(unreadable(what)),
        }
    }
}

/// A row of a result, whose columns are taken in order. A value of another type means a damaged
/// database, not a client's mistake.
pub(super) struct Row(std::vec::IntoIter<Value<'static>>);

impl Row {
    pub(super) fn new(columns: Vec<Value<'static>>) -> Self {
        Self(columns.into_iter())
    }

    /// Takes a sealed key, which is two columns: wrapped, and its fingerprint.
    pub(super) fn sealed_key(&mut self) -> Result<Option<SealedKey>, StorageError> {
        let (wrapped, fingerprint): (Option<_>, Option<_>) = (self.take()?, self.take()?);
        let sealed = |(wrapped, fingerprint)| SealedKey {
            wrapped,
            fingerprint,
        };
        Ok(wrapped.zip(fingerprint).map(sealed))
    }

    /// Takes the next column.
    pub(super) fn take<T: FromValue>(&mut self) -> Result<T, StorageError> {
        let value = self.0.next().and_then(T::from_value);
        value.ok_or_else(|| unreadable(std::any::type_name::<T>()))
    }

    /// Takes the next column, a text that `read` parses. `what` names it in error logs.
    pub(super) fn text<T>(
        &mut self,
        what: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, StorageError> {
        read(&self.take::<String>()?).ok_or_else(|| unreadable(what))
    }

    /// Like [`Self::text`], for a column that may be `NULL`.
    pub(super) fn optional_text<T>(
        &mut self,
        what: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, StorageError> {
        let text = self.take::<Option<String>>()?;
        text.map(|text| read(&text).ok_or_else(|| unreadable(what)))
            .transpose()
    }

    /// Takes the next column and parses it as JSON.
    pub(super) fn json<T: serde::de::DeserializeOwned>(
        &mut self,
        what: &str,
    ) -> Result<T, StorageError> {
        self.text(what, |json| serde_json::from_str(json).ok())
    }
}

impl Columns for Row {
    fn value(&self, column: usize) -> Result<Value<'_>, StorageError> {
        let value = self.0.as_slice().get(column);
        value
            .map(Value::as_borrowed)
            .ok_or_else(|| unreadable("column"))
    }
}

/// The error for a stored value that cannot be parsed; `what` names it.
pub(super) fn unreadable(what: &str) -> StorageError {
    StorageError::Failed(format!("a stored {what} is not readable"))
}
