//! `POST /admin/v1/simulator/inlays`.

use axum::Json;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::view::VirtualInlayView;
use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::error::{ApiError, BadBody, Common, Conflicting, Written};
use app::inlays::{KeyRequest, open_shared};
use app::service::Service;
use domain::entropy;
use domain::field_error::FieldError;
use domain::id::{MasterKeyId, TagId, UrlTemplateId};
use domain::inventory::{InlayFields, MemberPatch, NewInlay, UrlTemplateFields, virtual_uid};
use domain::tag::{Slug, Tag, TagFields};
use domain::text::NAME_MAX;
use inlay::key::{AesKey, Sic43ntKey, SomeKey};
use inlay::technology::{Family, Mode};
use inlay::template::Field;
use inlay::{MacFrom, Mirror, Technology};
use storage::{Conflict, SimulatedTag, StorageError};

/// A virtual inlay to create. One of `tag_id`, `tag` and `name` selects its tag.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewVirtualInlay {
    /// An existing tag. A simulated tag is used itself. For a real tag, a simulated twin is
    /// created, with the same configuration and another slug.
    tag_id: Option<TagId>,
    /// A new simulated tag, with all its members.
    tag: Option<TagFields>,
    /// Name of a new simulated tag without other members.
    #[schema(min_length = 1, max_length = 200)]
    name: Option<String>,
    /// The URL template of the virtual inlay, which also selects the chip; null for the canonical
    /// form of an NTAG 424 DNA.
    url_template_id: Option<UrlTemplateId>,
    /// How the URL contains UID and counter in the canonical form; by default encrypted.
    mirror: Option<Mirror>,
    /// Start of the part of the URL that the MAC covers; by default `none`.
    mac_from: Option<MacFrom>,
    /// The meta key. By default the key that the inlays of the URL template share, or a random one.
    meta_key: Option<AesKey>,
    /// The file key, or the only key of the chip; by default random.
    file_key: Option<SomeKey>,
    /// The master key from which the inlay's keys are derived.
    master_key_id: Option<MasterKeyId>,
    /// Whether to accept the all-zero factory key.
    #[serde(default)]
    allow_factory_keys: bool,
}

/// Create a virtual inlay
///
/// For the service it is an inlay like any other, on a simulated tag. All its taps are marked as
/// simulated.
#[utoipa::path(
    post, path = "/simulator/inlays", tag = "simulator", request_body = NewVirtualInlay,
    responses((status = CREATED, body = VirtualInlayView), Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn create(
    Asked(service): Asked,
    Body(new): Body<NewVirtualInlay>,
) -> Result<(StatusCode, Json<VirtualInlayView>), ApiError> {
    let uid = virtual_uid(&*service.entropy);
    let template = match new.url_template_id {
        Some(id) => Some(template(&service, id).await?),
        None => None,
    };
    let technology = match &template {
        Some(template) => template.settings().technology,
        None => Technology::Ntag424Dna,
    };
    let (meta_key, file_key) = match (new.meta_key, new.file_key, new.master_key_id) {
        (None, None, None) => {
            let shared = template.as_ref();
            let (meta, file) = random_keys(&service, technology, shared).await?;
            (meta.into(), file.into())
        }
        (meta, file, _) => {
            let meta = meta.map_or(MemberPatch::Keep, MemberPatch::Set);
            (meta, file.into())
        }
    };
    let keys = KeyRequest {
        meta_key,
        file_key,
        master_key_id: new.master_key_id.into(),
        allow_factory_keys: new.allow_factory_keys,
    };
    let keys = keys
        .seal(&service, uid, technology, template.as_ref())
        .await?;
    let fields = InlayFields {
        technology,
        mode: template.as_ref().map_or(Mode::Aes, |of| of.settings().mode),
        url_template_id: new.url_template_id,
        tag_id: None,
        mirror: match &template {
            Some(_) => new.mirror,
            None => Some(new.mirror.unwrap_or(Mirror::Encrypted)),
        },
        mac_from: new.mac_from.unwrap_or(MacFrom::None),
        keys: keys.apply(None).map_err(ApiError::invalid)?,
        other_keys: None,
        blocked_at: None,
    };
    fields.validate().map_err(ApiError::invalid)?;
    let inlay = NewInlay {
        uid,
        fields,
        simulated: true,
        last_counter: 0,
    };
    let tag = tag(&service, new.tag_id, new.tag, new.name).await?;
    let chip = service.storage.insert_virtual_inlay(tag, inlay).await?;
    Ok((StatusCode::CREATED, Json(chip.into())))
}

async fn template(service: &Service, id: UrlTemplateId) -> Result<UrlTemplateFields, ApiError> {
    let found = service.storage.url_template(id).await?;
    let missing = || {
        let (noun, id) = ("URL template", id.get());
        StorageError::Conflict(Conflict::Missing { noun, id })
    };
    Ok(found.ok_or_else(missing)?.fields)
}

fn random_key(service: &Service) -> AesKey {
    AesKey::from_bytes(entropy::bytes(&*service.entropy))
}

/// Random keys of a new chip, as its technology requires. If URLs of the template identify an inlay
/// only by a shared key, the chip gets one of these keys.
async fn random_keys(
    service: &Service,
    technology: Technology,
    template: Option<&UrlTemplateFields>,
) -> Result<(Option<AesKey>, Option<SomeKey>), ApiError> {
    let file = match technology.family() {
        Family::Ntag21x => None,
        Family::Sic43Nt => Some(SomeKey::Rolling(Sic43ntKey::from_bytes(entropy::bytes(
            &*service.entropy,
        )))),
        Family::Ntag424 | Family::Ntag22x | Family::Sic43S1 => {
            Some(SomeKey::Aes(random_key(service)))
        }
    };
    // All chips of the template share this key.
    let shared = template.and_then(|template| template.unlisted.file_key.as_ref());
    let file = match shared {
        Some(shared) => Some(SomeKey::Aes(service.keyring.unwrap(&shared.wrapped)?)),
        None => file,
    };
    let meta = match template {
        None => Some(random_key(service)),
        Some(template) if template.template.has(Field::Picc) => {
            match template.keys.iter().find(|key| key.opens) {
                Some(shared) => open_shared(service, shared).await?,
                None => Some(random_key(service)),
            }
        }
        Some(_) => None,
    };
    Ok((meta, file))
}

async fn tag(
    service: &Service,
    id: Option<TagId>,
    fields: Option<TagFields>,
    name: Option<String>,
) -> Result<SimulatedTag, ApiError> {
    // Error messages refer to members within `tag` if the whole tag was sent.
    let within = fields.is_some();
    let mut fields = match (id, fields, name) {
        (Some(id), None, None) => {
            let missing = Conflict::Missing {
                noun: "tag",
                id: id.get(),
            };
            let original = service.storage.tag(id).await?;
            let original = original.ok_or(StorageError::Conflict(missing))?;
            if original.simulated {
                return Ok(SimulatedTag::Existing(id));
            }
            twin(original)
        }
        (None, Some(fields), None) => fields,
        (None, None, Some(name)) => TagFields::named(name),
        _ => {
            return Err(ApiError::Invalid(FieldError::of(
                "tag_id",
                "Choose a tag: tag_id for an existing one, tag for a new one, or the name of a new one.",
            )));
        }
    };
    fields.slug = fields.slug.or_generate(&*service.entropy);
    fields.validate().map_err(|error| {
        let error = FieldError::from(error);
        ApiError::Invalid(if within { error.within("tag") } else { error })
    })?;
    Ok(SimulatedTag::New(Box::new(fields)))
}

/// The configuration of a tag's twin in the simulated world.
fn twin(original: Tag) -> TagFields {
    const MARK: &str = " (simulated)";
    let room = NAME_MAX - MARK.len();
    let name: String = original.fields.name.chars().take(room).collect();
    TagFields {
        name: name + MARK,
        slug: Slug::default(),
        ..original.fields
    }
}
