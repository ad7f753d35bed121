//! `GET /admin/v1/experiences/templates`.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::ExperienceMembers;
use crate::experience::Scheme;
use crate::http::admin::query::Query;
use crate::http::error::{ApiError, Common, Invalid};
use crate::service::Service;
use crate::studio::{StudioTemplate, templates};
use crate::tap::nonce;

/// How the templates are shown.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TemplatesQuery {
    /// Light or dark; by default `auto`.
    #[serde(default)]
    #[param(inline, required = false)]
    scheme: Scheme,
}

/// All templates.
#[derive(Serialize, ToSchema)]
pub(crate) struct Templates {
    /// In the order of a gallery.
    items: Vec<Template>,
}

/// A template of a studio experience.
#[derive(Serialize, ToSchema)]
#[schema(as = ExperienceTemplate)]
pub(crate) struct Template {
    /// Its name, which never changes.
    name: String,
    /// Its display name.
    title: String,
    /// Its purpose, in a sentence.
    about: String,
    /// The variables that a tag needs for it, with their initial values.
    variables: BTreeMap<String, String>,
    /// The experience, to be created and edited.
    experience: ExperienceMembers,
    /// Its page as a visitor sees it, if the tag has a value for everything.
    html: String,
}

/// List templates of studio experiences
///
/// Ten pages to start from. To use one, create an experience from its members, and add its
/// variables to the tags that lead there.
#[utoipa::path(
    get, path = "/experiences/templates", tag = "experiences", params(TemplatesQuery),
    responses((status = OK, body = Templates), Invalid, Common)
)]
pub(crate) async fn list_templates(
    State(service): State<Arc<Service>>,
    Query(TemplatesQuery { scheme }): Query<TemplatesQuery>,
) -> Result<Json<Templates>, ApiError> {
    let nonce = nonce(&*service.entropy);
    let shown = |template: &StudioTemplate| {
        let html = template.to_html(scheme, &service.media, &nonce);
        let experience = ExperienceMembers::saying(template.experience.clone());
        let variables = template.variables.iter();
        Ok(Template {
            name: template.name.clone(),
            title: template.title.clone(),
            about: template.about.clone(),
            variables: variables
                .map(|(key, value)| (key.to_string(), value.clone()))
                .collect(),
            experience: experience.map_err(|error| error.to_string())?,
            html: html.map_err(|error| error.to_string())?,
        })
    };
    let items: Result<_, String> = templates().iter().map(shown).collect();
    let items = items.map_err(|error| {
        tracing::error!("a template could not be shown: {error}");
        ApiError::Internal
    })?;
    Ok(Json(Templates { items }))
}
