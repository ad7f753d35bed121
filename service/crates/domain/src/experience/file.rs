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
use crate::group::{GroupPath, InvalidPath};
use crate::id::{GroupId, ImageId};
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
    /// Groups that the content's conditions name, by their path: another service has other
    /// identifiers.
    #[serde(
        default,
        deserialize_with = "strict_json::list",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[schema(required = false)]
    groups: Vec<FileGroup>,
}

/// A group in a file.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FileGroup {
    /// The identifier that the content uses for it.
    id: GroupId,
    /// The names of the groups above it and its own, such as `Wines / Grand Cru 2021`.
    path: String,
}

/// The checked contents of a file.
#[derive(Clone, Debug)]
pub struct FileContents {
    /// The name and the content, with the identifiers of the file.
    pub fields: ExperienceFields,
    /// The images that the content shows, unchecked.
    pub images: BTreeMap<ImageId, Vec<u8>>,
    /// The groups that the content's conditions name.
    pub groups: BTreeMap<GroupId, GroupPath>,
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
    /// A condition names a group that is not in the file.
    #[error(
        "A condition of the file names the group {0}, which did not exist where the file was made. Remove the condition."
    )]
    MissingGroup(GroupId),
    /// The path of a group cannot be read.
    #[error("The path of the group {0} of the file cannot be read: {1}")]
    Path(GroupId, InvalidPath),
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
            Self::MissingGroup(_) | Self::Path(..) => Some("groups".into()),
        }
    }
}

impl ExperienceFile {
    /// The file of an experience. `images` are the images that its content shows, and `groups` the
    /// paths of the groups that its conditions name.
    pub fn new(
        name: Name,
        content: &Content,
        images: &BTreeMap<ImageId, Vec<u8>>,
        groups: BTreeMap<GroupId, String>,
    ) -> Self {
        let images = images.iter().map(|(id, bytes)| FileImage {
            id: *id,
            data: STANDARD.encode(bytes),
        });
        let groups = groups.into_iter();
        Self {
            tapdesk_experience: FORMAT,
            name: name.into(),
            content: serde_json::from_str(&content.to_json())
                .expect("a content is written as it is read"),
            images: images.collect(),
            groups: groups.map(|(id, path)| FileGroup { id, path }).collect(),
        }
    }

    /// Its contents. The content is checked, its images are not.
    pub fn read(self) -> Result<FileContents, FileError> {
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
        let paths: BTreeMap<_, _> = self
            .groups
            .iter()
            .map(|group| (group.id, group.path.as_str()))
            .collect();
        let mut groups = BTreeMap::new();
        for named in fields.content.tag_groups() {
            let path = paths.get(&named).ok_or(FileError::MissingGroup(named))?;
            let path = path
                .parse()
                .map_err(|error| FileError::Path(named, error))?;
            groups.insert(named, path);
        }
        Ok(FileContents {
            fields,
            images,
            groups,
        })
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

/// A content with other identifiers for the groups in its conditions.
pub fn with_groups(
    content: &Content,
    ids: &BTreeMap<GroupId, GroupId>,
) -> Result<Content, ContentError> {
    let mut value = serde_json::from_str(&content.to_json())?;
    rename_groups(&mut value, ids);
    serde_json::from_value::<ContentFields>(value)?.try_into()
}

/// Replaces identifiers of groups in conditions. Nothing else has the type `group`.
fn rename_groups(value: &mut Value, ids: &BTreeMap<GroupId, GroupId>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| rename_groups(item, ids)),
        Value::Object(members) if members.get("type").is_some_and(|kind| kind == "group") => {
            let named = members.get_mut("any_of").and_then(Value::as_array_mut);
            for named in named.into_iter().flatten() {
                let id = named.as_i64().and_then(|id| GroupId::try_from(id).ok());
                if let Some(other) = id.and_then(|id| ids.get(&id)) {
                    *named = other.get().into();
                }
            }
        }
        Value::Object(members) => {
            let members = members.iter_mut();
            members.for_each(|(_, value)| rename_groups(value, ids));
        }
        _ => {}
    }
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
