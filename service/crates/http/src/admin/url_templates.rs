//! `/admin/v1/url-templates`. Keys are write-only.

mod create;
mod delete;
mod encoding_sheet;
mod get;
mod keys;
mod list;
mod revert;
mod solve;
mod update;
mod view;

pub(super) use create::*;
pub(super) use delete::*;
pub(super) use encoding_sheet::*;
pub(super) use get::*;
pub(super) use keys::*;
pub(super) use list::*;
pub(super) use revert::*;
pub(super) use solve::*;
pub(super) use update::*;

use url::Host;

use super::extract::edited::Edited;
use crate::auth::access::is_ours;
use crate::error::ApiError;
use crate::reserved;
use crate::state::AppState;
use app::service::Service;
use domain::field_error::FieldError;
use domain::id::UrlTemplateId;
use domain::inventory::{InvalidInlay, SealedKey};
use domain::settings::host;
use domain::text::Name;
use inlay::key::AesKey;
use inlay::template::{Template, TemplateSettings};
use storage::StorageError;

/// The current state of a template.
async fn current(
    service: &Service,
    id: UrlTemplateId,
) -> Result<Option<Edited<view::UrlTemplateView>>, StorageError> {
    let found = service.storage.url_template(id).await?;
    Ok(found.map(|found| Edited::shown_as(found, view::UrlTemplateView::from)))
}

/// Checks the text of a template. It must not match any route of the service.
fn checked(state: &AppState, settings: TemplateSettings) -> Result<Template, FieldError> {
    let invalid = |why: String| Err(FieldError::of("template", why));
    let template = Template::new(settings)?;
    if let Some(route) = reserved::reached(&template) {
        return invalid(format!(
            "A URL of this template could reach {route}, which is the service's own. Choose another path."
        ));
    }
    if takes_our_host(state, &template) {
        let host = template.sample_host();
        return invalid(format!(
            "The host of a template cannot be one by which the admin API is reached: {host}. Choose a host that is only for tags."
        ));
    }
    Ok(template)
}

fn takes_our_host(state: &AppState, template: &Template) -> bool {
    let settings = state.shared().settings();
    let of_tag_url = host::of_url(&settings.tag_url).map(|host| host.to_string());
    let named = settings.hosts.iter().chain(&of_tag_url);
    let sample = Host::parse(&template.sample_host());
    named.into_iter().any(|host| template.answers_at(host))
        || template.answers_at("localhost")
        || sample.is_ok_and(|host| is_ours(state, &host))
}

/// Seals a key that all chips of a template share.
fn sealed(service: &Service, key: &AesKey, allow_factory: bool) -> Result<SealedKey, ApiError> {
    if key.is_factory() && !allow_factory {
        return Err(ApiError::invalid(InvalidInlay::FactoryKey));
    }
    Ok(SealedKey::seal(key, &service.keyring, &*service.entropy)?)
}

/// Checks the name of a template.
fn name(name: String) -> Result<Name, ApiError> {
    Name::new("A URL template", name).map_err(ApiError::invalid)
}
