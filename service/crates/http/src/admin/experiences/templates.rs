//! `GET /admin/v1/experiences/templates`.

use std::collections::BTreeMap;

use axum::Json;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::ExperienceMembers;
use crate::admin::Asked;
use crate::admin::extract::query::Query;
use crate::error::{ApiError, Common, Invalid};
use app::studio::{StudioTemplate, template_language, template_languages, templates};
use app::tap::nonce;
use domain::experience::{Scheme, is_language};

/// Options of the list of templates.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TemplatesQuery {
    /// Light or dark; by default `auto`.
    #[serde(default)]
    #[param(inline, required = false)]
    scheme: Scheme,
    /// Language of the templates' texts, such as `de` or `de-AT`. English by default, and for
    /// languages without texts.
    #[serde(default, deserialize_with = "language")]
    #[param(required = false, value_type = String, min_length = 2, max_length = 35)]
    language: Option<String>,
}

fn language<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let tag = String::deserialize(from)?;
    if is_language(&tag) {
        return Ok(Some(tag));
    }
    Err(D::Error::custom("it is a tag such as de or pt-BR"))
}

/// All templates of studio experiences.
#[derive(Serialize, ToSchema)]
pub(crate) struct Templates {
    /// The templates, in the order of a gallery.
    items: Vec<Template>,
    /// Language of the templates' texts.
    #[schema(example = "de")]
    language: &'static str,
    /// All languages of the templates.
    languages: Vec<&'static str>,
}

/// A template of a studio experience.
#[derive(Serialize, ToSchema)]
#[schema(as = ExperienceTemplate)]
pub(crate) struct Template {
    /// Stable name of the template.
    name: String,
    /// Title of the template for people.
    title: String,
    /// Purpose of the template, in one sentence.
    about: String,
    /// The variables that a tag needs for the page, with their initial values.
    variables: BTreeMap<String, String>,
    /// The experience, ready to be created and edited.
    experience: ExperienceMembers,
    /// The page as a visitor sees it, if the tag has all values.
    html: String,
}

/// List templates of studio experiences
///
/// Ten pages to start from. To use one, create an experience from its members, and add its
/// variables to the tags that lead to it. Only the texts of the page are in the requested language.
/// Tapdesk's own words on the page are in the language of the tag, `language_code`.
#[utoipa::path(
    get, path = "/experiences/templates", tag = "experiences", params(TemplatesQuery),
    responses((status = OK, body = Templates), Invalid, Common)
)]
pub(crate) async fn list_templates(
    Asked(service): Asked,
    Query(TemplatesQuery { scheme, language }): Query<TemplatesQuery>,
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
    let language = template_language(language.as_deref().unwrap_or_default());
    let items: Result<_, String> = templates(language).iter().map(shown).collect();
    let items = items.map_err(|error| {
        tracing::error!("a template could not be shown: {error}");
        ApiError::Internal
    })?;
    Ok(Json(Templates {
        items,
        language,
        languages: template_languages(),
    }))
}
