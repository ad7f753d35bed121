//! The content that is written to the chip of a tag.

use super::EncodeError;
use crate::prove_address;
use crate::service::Service;
use domain::field_error::FieldError;
use domain::id::{TagId, UrlTemplateId};
use encoding::Form;
use inlay::technology::{Family, Mode};
use inlay::template::{Template, TemplateSettings};
use inlay::{MacFrom, Mirror, Technology, Uid};
use storage::{Conflict, InlayFilter, StorageError};

/// How a chip is written.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct FormOptions {
    /// The URL template; `None` for the canonical form.
    pub url_template_id: Option<UrlTemplateId>,
    /// The mirror of the canonical form; by default the encrypted one.
    pub mirror: Option<Mirror>,
    /// Where the MAC's input begins in the canonical form.
    pub mac_from: Option<MacFrom>,
    /// The chip's technology, if it makes no codes: then its URL is static.
    pub technology: Option<Technology>,
    /// Locks the chip against writing, which cannot be undone.
    pub lock: bool,
    /// Gives the chip a write password, derived from the encoding root, or removes it. `None`: a
    /// password of ours stays.
    pub write_password: Option<bool>,
    /// Switches the chip to LRP mode, which cannot be undone.
    pub lrp: bool,
    /// Uses random keys instead of derived ones.
    pub own_keys: bool,
    /// Allows replacing the keys of a finished chip.
    pub replace: bool,
    /// Allows another inlay for a tag that already has one.
    pub additional: bool,
    /// Allows an address of the tags that is not proved; a person confirmed this.
    pub allow_unproved_address: bool,
    /// The reader found a message on the chip.
    pub has_message: bool,
}

/// Refuses chips whose URL would have an address that is not proved. A URL template has its own
/// address, which is not checked.
pub(super) async fn check_address(
    service: &Service,
    options: &FormOptions,
) -> Result<(), EncodeError> {
    if options.allow_unproved_address || options.url_template_id.is_some() {
        return Ok(());
    }
    match prove_address::why_not_proved(service).await? {
        None => Ok(()),
        Some(why) => Err(EncodeError::AddressNotProved(format!(
            "{why} Chips carry this address for good: check it first, or send \"allow_unproved_address\": true."
        ))),
    }
}

/// The form of a tag's inlay.
pub(super) async fn of_tag(
    service: &Service,
    tag: TagId,
    options: &FormOptions,
) -> Result<Form, EncodeError> {
    let (noun, id) = ("tag", tag.get());
    let found = service.storage.tag(tag).await?;
    let missing = || StorageError::from(Conflict::Missing { noun, id });
    let found = found.ok_or_else(missing)?;
    if found.simulated {
        let simulated = false;
        return Err(StorageError::from(Conflict::OtherWorld { tag, simulated }).into());
    }
    of_slug(service, found.fields.slug.to_string(), options).await
}

/// The form of an inlay with this slug in its URL.
pub(super) async fn of_slug(
    service: &Service,
    slug: String,
    options: &FormOptions,
) -> Result<Form, EncodeError> {
    if let Some(id) = options.url_template_id {
        return of_template(service, id, slug, options).await;
    }
    check_lrp(Mode::Aes, options)?;
    let settings = service.settings();
    let technology = options.technology.unwrap_or(Technology::Ntag424Dna);
    if technology.family() == Family::Ntag21x {
        return of_static_url(technology, &settings.tag_url, slug, options);
    }
    check_lock(technology, options)?;
    if technology != Technology::Ntag424Dna {
        let why =
            "Without a URL template Tapdesk encodes ntag424dna, ntag213, ntag215 and ntag216.";
        return Err(FieldError::of("technology", why).into());
    }
    let mirror = options.mirror.unwrap_or(Mirror::Encrypted);
    let mac_from = options.mac_from.unwrap_or(MacFrom::None);
    let template = Template::canonical(&settings.tag_url, mirror, mac_from).map_err(|error| {
        let why = format!("The service's public base URL cannot be written to a chip: {error}");
        FieldError::whole(why)
    })?;
    Ok(Form {
        template: template.settings().clone(),
        url_template_id: None,
        mirror: Some(mirror),
        mac_from,
        slug,
        lock: false,
        write_password: None,
        own_keys: options.own_keys,
        finished: None,
        additional: options.additional,
        taken_from: None,
    })
}

async fn of_template(
    service: &Service,
    id: UrlTemplateId,
    slug: String,
    options: &FormOptions,
) -> Result<Form, EncodeError> {
    let found = service.storage.url_template(id).await?;
    let (noun, number) = ("URL template", id.get());
    let missing = || StorageError::from(Conflict::Missing { noun, id: number });
    let template = found.ok_or_else(missing)?.fields.template;
    let settings = template.settings();
    let technology = settings.technology;
    if !encoding::is_encodable(technology) {
        let why = "Tapdesk encodes NTAG 424 DNA, and NTAG 213, 215 and 216. Encode other chips with another tool, and import their keys.";
        return Err(FieldError::of("url_template_id", why).into());
    }
    check_lrp(settings.mode, options)?;
    check_lock(technology, options)?;
    if options.technology.is_some_and(|other| other != technology) {
        let why = format!("The URL template is for {technology}.");
        return Err(FieldError::of("technology", why).into());
    }
    if !template.has(inlay::template::Field::Slug) && !template.has(inlay::template::Field::Uid) {
        let why = "The URL template has neither {slug} nor {uid}, so each chip would need the same meta key. \
            Tapdesk gives each chip keys of its own: choose a template with {slug} or {uid}.";
        return Err(FieldError::of("url_template_id", why).into());
    }
    Ok(Form {
        template: settings.clone(),
        url_template_id: Some(id),
        mirror: None,
        mac_from: MacFrom::None,
        slug,
        lock: options.lock,
        write_password: options.write_password,
        own_keys: options.own_keys,
        finished: None,
        additional: options.additional,
        taken_from: None,
    })
}

/// The form of a chip that makes no codes: it holds the tag's URL and nothing else.
fn of_static_url(
    technology: Technology,
    tag_url: &str,
    slug: String,
    options: &FormOptions,
) -> Result<Form, EncodeError> {
    if options.mirror.is_some() || options.mac_from.is_some() {
        let why = "This chip makes no codes: it has no mirror of the canonical form. Choose a URL template for its UID and counter.";
        return Err(FieldError::of("mirror", why).into());
    }
    if options.write_password == Some(true) {
        check_lock(technology, options)?;
    }
    let base = tag_url.replace('{', "{{").replace('}', "}}");
    Ok(Form {
        template: TemplateSettings::new(format!("{base}/{{slug}}"), technology),
        url_template_id: None,
        mirror: None,
        mac_from: MacFrom::None,
        slug,
        lock: options.lock,
        write_password: options.write_password,
        own_keys: false,
        finished: None,
        additional: options.additional,
        taken_from: None,
    })
}

/// Refuses a lock and a password for a chip with keys, which needs neither: writing needs its key 0.
/// A locked chip needs no password.
fn check_lock(technology: Technology, options: &FormOptions) -> Result<(), EncodeError> {
    let is_lockable = encoding::is_lockable(technology);
    let (field, why) = if options.lock && !is_lockable {
        let why = "Only NTAG 213, 215 and 216 are locked. An NTAG 424 DNA can be written only with its key 0.";
        ("lock", why)
    } else if options.write_password == Some(true) && !is_lockable {
        let why = "Only NTAG 213, 215 and 216 get a write password. An NTAG 424 DNA can be written only with its key 0.";
        ("write_password", why)
    } else if options.write_password == Some(true) && options.lock {
        let why = "A chip that is locked for good needs no password. Send one of lock and write_password.";
        ("write_password", why)
    } else {
        return Ok(());
    };
    Err(FieldError::of(field, why).into())
}

/// Requires that the request itself asks for LRP mode, because a chip cannot leave it.
fn check_lrp(mode: Mode, options: &FormOptions) -> Result<(), EncodeError> {
    let why = match (mode, options.lrp) {
        (Mode::Lrp, false) => {
            "The URL template is of LRP mode. A chip is switched to it for ever, and cannot be wiped after it: send \"lrp\": true if that is meant."
        }
        (Mode::Aes, true) => {
            "Chips are switched to LRP mode only for a URL template of LRP mode. Choose one, or leave \"lrp\" out."
        }
        _ => return Ok(()),
    };
    Err(FieldError::of("lrp", why).into())
}

/// Whether the tag has an inlay other than this chip.
pub(super) async fn has_inlay(
    service: &Service,
    tag: TagId,
    uid: Uid,
) -> Result<bool, EncodeError> {
    let filter = InlayFilter {
        tag_id: Some(tag),
        ..InlayFilter::default()
    };
    let inlays = service.storage.inlays(filter, None, 2).await?;
    Ok(inlays.iter().any(|inlay| inlay.uid != uid))
}
