//! An experience as one file, including its images, to be moved between services.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{Content, ContentError, ContentFields, ExperienceFields};
use crate::field_error::OfField;
use crate::id::ImageId;
use crate::strict_json;
use crate::text::{InvalidName, Name};

/// The version of the format that is written; the only one that is read.
const FORMAT: u32 = 1;
/// Most images of a file.
const IMAGES_MAX: usize = 50;

/// An experience as one file. Its image identifiers are valid only within the file.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExperienceFile {
    /// The version of this format: 1.
    #[schema(minimum = 1, maximum = 1)]
    tapdesk_experience: u32,
    /// Name of the experience.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// Draft of the experience.
    #[serde(deserialize_with = "strict_json::one")]
    content: ContentFields,
    /// Images that the content shows.
    #[serde(default, deserialize_with = "strict_json::list")]
    #[schema(required = false, max_items = 50)]
    images: Vec<FileImage>,
}

/// An image in a file.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FileImage {
    /// The identifier that the content uses for it.
    id: ImageId,
    /// The image itself, Base64-encoded.
    #[schema(pattern = "^[A-Za-z0-9+/]*={0,2}$")]
    data: String,
}

/// Why a file cannot be imported. Each is a sentence for people.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It was written by a later version of Tapdesk.
    #[error("This file is of version {0} of its format; {FORMAT} is the one that can be read.")]
    Format(u32),
    /// Its name is not valid.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// Its content is not valid.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// It has too many images.
    #[error("A file can have at most {IMAGES_MAX} images.")]
    Images,
    /// The content shows an image that is not in the file.
    #[error("The file shows the image {0}, and does not have it.")]
    Missing(ImageId),
    /// An image is not valid Base64.
    #[error("The image {0} of the file is not Base64.")]
    Base64(ImageId),
}

impl OfField for FileError {
    fn field(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Format(_) => Some("tapdesk_experience".into()),
            Self::Name(error) => error.field(),
            Self::Content(error) => Some(match error.field() {
                Some(field) => format!("content.{field}").into(),
                None => "content".into(),
            }),
            Self::Images | Self::Missing(_) | Self::Base64(_) => Some("images".into()),
        }
    }
}

impl ExperienceFile {
    /// The file of an experience. `images` are the images that its content shows.
    pub fn new(name: Name, content: &Content, images: &BTreeMap<ImageId, Vec<u8>>) -> Self {
        let images = images.iter().map(|(id, bytes)| FileImage {
            id: *id,
            data: STANDARD.encode(bytes),
        });
        Self {
            tapdesk_experience: FORMAT,
            name: name.into(),
            content: serde_json::from_str(&content.to_json())
                .expect("a content is written as it is read"),
            images: images.collect(),
        }
    }

    /// Its content, checked, and the images that the content shows, unchecked.
    pub fn read(self) -> Result<(ExperienceFields, BTreeMap<ImageId, Vec<u8>>), FileError> {
        if self.tapdesk_experience != FORMAT {
            return Err(FileError::Format(self.tapdesk_experience));
        }
        if self.images.len() > IMAGES_MAX {
            return Err(FileError::Images);
        }
        let fields = ExperienceFields::named(self.name, Content::to_save(self.content)?)?;
        let mut images = BTreeMap::new();
        for shown in fields.content.images() {
            let image = self.images.iter().find(|image| image.id == shown);
            let image = image.ok_or(FileError::Missing(shown))?;
            let bytes = STANDARD.decode(&image.data);
            images.insert(shown, bytes.map_err(|_| FileError::Base64(shown))?);
        }
        Ok((fields, images))
    }
}

/// A content with other identifiers for its images.
pub fn with_images(
    content: &Content,
    ids: &BTreeMap<ImageId, ImageId>,
) -> Result<Content, ContentError> {
    let mut value = serde_json::from_str(&content.to_json())?;
    rename(&mut value, ids);
    serde_json::from_value::<ContentFields>(value)?.try_into()
}

/// Replaces image identifiers wherever a block or a theme names one.
fn rename(value: &mut Value, ids: &BTreeMap<ImageId, ImageId>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, ids)),
        Value::Object(members) => {
            for (name, value) in members {
                let id = value.as_i64().and_then(|id| ImageId::try_from(id).ok());
                match id.and_then(|id| ids.get(&id)) {
                    Some(id) if matches!(name.as_str(), "image_id" | "logo") => {
                        *value = id.get().into();
                    }
                    _ => rename(value, ids),
                }
            }
        }
        _ => {}
    }
}
