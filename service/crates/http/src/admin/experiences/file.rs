//! `GET /admin/v1/experiences/{id}/file` and `POST /admin/v1/experiences/import`.

use std::collections::{BTreeMap, HashMap};

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::countries;
use crate::admin::Asked;
use crate::admin::extract::body;
use crate::admin::extract::path::Id;
use crate::admin::pictures::fit;
use crate::admin::warning;
use crate::error::{ApiError, BadBody, Common, Conflicting, NotFound, Written};
use crate::state::AppState;
use app::service::Service;
use app::tag_table::import::group_paths;
use domain::experience::{
    Content, Experience, ExperienceFields, ExperienceFile, ExperienceKind, FileContents, Theme,
    with_groups, with_images,
};
use domain::field_error::FieldError;
use domain::group::GroupPath;
use domain::id::{ExperienceId, GroupId, ImageId};

/// Maximum size of a file, in bytes.
const FILE_MAX: usize = 48 * 1024 * 1024;

/// Export an experience as one file
///
/// The file contains the name and the draft, the images that the draft shows, and the paths of the
/// groups that its conditions name.
#[utoipa::path(
    get, path = "/experiences/{id}/file", tag = "experiences", params(("id" = ExperienceId, Path)),
    responses((status = OK, body = ExperienceFile), NotFound, Common)
)]
pub(crate) async fn export_file(
    Asked(service): Asked,
    Id(id): Id<ExperienceId>,
) -> Result<Response, ApiError> {
    let experience = service.storage.experience(id).await?;
    let experience = experience.ok_or(ApiError::NotFound("experience"))?;
    let mut images = BTreeMap::new();
    for image in experience.content.images() {
        if let Some((_, bytes)) = service.storage.image(id, image).await? {
            images.insert(image, bytes);
        }
    }
    let named = experience.content.tag_groups();
    let mut groups = BTreeMap::new();
    if !named.is_empty() {
        groups.extend(group_paths(&service).await?);
        groups.retain(|id, _| named.contains(id));
    }
    let file = ExperienceFile::new(experience.name, &experience.content, &images, groups);
    let mut response = Json(file).into_response();
    let name = format!("attachment; filename=\"experience-{id}.tapdesk.json\"");
    if let Ok(name) = HeaderValue::from_str(&name) {
        response
            .headers_mut()
            .insert(header::CONTENT_DISPOSITION, name);
    }
    Ok(response)
}

/// Import an experience from a file
///
/// The experience becomes a new draft. Tapdesk checks everything in the file, and encodes the
/// images again as if they were uploaded. Groups that conditions name must exist, and are found by
/// their path. At most 48 MiB.
#[utoipa::path(
    post, path = "/experiences/import", tag = "experiences", request_body = ExperienceFile,
    responses((status = CREATED, body = Experience, headers(("Tapdesk-Warning" = String, description = "Warnings about the saved experience, in words"))), Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn import_file(
    State(state): State<AppState>,
    Asked(service): Asked,
    request: Request,
) -> Result<(StatusCode, HeaderMap, Json<Experience>), ApiError> {
    let experience = import(&service, request).await?;
    let warning = warning::headers(countries::warning(&state, &experience.content));
    Ok((StatusCode::CREATED, warning, Json(experience)))
}

async fn import(service: &Service, request: Request) -> Result<Experience, ApiError> {
    let file: ExperienceFile = body::json(request, FILE_MAX).await?;
    let FileContents {
        mut fields,
        images,
        groups,
    } = file.read().map_err(ApiError::invalid)?;
    if !groups.is_empty() {
        let ids = groups_here(service, groups).await?;
        fields.content = with_groups(&fields.content, &ids).map_err(ApiError::invalid)?;
    }
    let mut fitted = Vec::new();
    for (id, bytes) in images {
        let (media_type, bytes) = fit(bytes.into()).await.map_err(|error| match error {
            ApiError::UnsupportedMediaType(_) => ApiError::Invalid(FieldError::of(
                "images",
                format!("The image {id} of the file is no PNG, JPEG, WebP or GIF."),
            )),
            error => error,
        })?;
        fitted.push((id, media_type, bytes));
    }
    if fitted.is_empty() {
        return Ok(service.storage.insert_experience(fields, false).await?);
    }

    // Images belong to an experience, so create it before its images. Until the end it is a draft
    // that no tap reaches.
    let empty = ExperienceFields {
        name: fields.name.clone(),
        content: empty(fields.content.kind()).ok_or(ApiError::Internal)?,
    };
    let id = service.storage.insert_experience(empty, false).await?.id;
    let filled = fill(service, id, &fields, fitted).await;
    if filled.is_err() {
        // Clean up. If the database does not answer, the draft stays.
        let _ = service.storage.delete_experience(id).await;
    }
    filled
}

/// The groups of this service that have the paths of the groups of a file.
async fn groups_here(
    service: &Service,
    groups: BTreeMap<GroupId, GroupPath>,
) -> Result<BTreeMap<GroupId, GroupId>, ApiError> {
    let mut here = HashMap::<String, Vec<GroupId>>::new();
    for (id, path) in group_paths(service).await? {
        here.entry(path).or_default().push(id);
    }
    let mut ids = BTreeMap::new();
    for (id, path) in groups {
        let path = path.to_string();
        match here.get(&path).map_or(&[][..], Vec::as_slice) {
            [only] => {
                ids.insert(id, *only);
            }
            [] => {
                let why = format!(
                    "A condition of the file names the group \"{path}\", and there is none here. Create it first."
                );
                return Err(ApiError::Invalid(FieldError::of("groups", why)));
            }
            several => {
                let why = format!(
                    "A condition of the file names the group \"{path}\", and {} groups here have that name. Rename \
                     one of them.",
                    several.len()
                );
                return Err(ApiError::Invalid(FieldError::of("groups", why)));
            }
        }
    }
    Ok(ids)
}

/// The empty content of a kind that shows images; `None` for other kinds.
fn empty(kind: ExperienceKind) -> Option<Content> {
    (kind == ExperienceKind::Studio).then(|| Content::Studio {
        blocks: Vec::new(),
        theme: Theme::default(),
    })
}

async fn fill(
    service: &Service,
    id: ExperienceId,
    fields: &ExperienceFields,
    images: Vec<(ImageId, domain::experience::ImageType, Vec<u8>)>,
) -> Result<Experience, ApiError> {
    let mut ids = BTreeMap::new();
    for (named, media_type, bytes) in images {
        let image = service.storage.insert_image(id, media_type, bytes).await?;
        ids.insert(named, image.ok_or(ApiError::NotFound("experience"))?.id);
    }
    let content = with_images(&fields.content, &ids).map_err(ApiError::invalid)?;
    let edit = move |before: ExperienceFields| {
        Ok(ExperienceFields {
            content: content.clone(),
            ..before
        })
    };
    let filled = service
        .storage
        .edit_experience(id, Box::new(edit), false)
        .await?;
    filled.ok_or(ApiError::NotFound("experience"))
}
