//! `/admin/v1/settings`: settings of the operator, and the source of each. A change takes effect at
//! once.

mod logo;

use serde::Serialize;
use utoipa::ToSchema;

pub(super) use logo::*;

use crate::admin::Asked;
use crate::admin::extract::body::Patch;
use crate::admin::extract::edited::{Edited, IfMatch};
use crate::error::{ApiError, BadBody, ChangedMeanwhile, Code, Common, Conflicting, Written};
use app::service::Service;
use domain::field_error::FieldError;
use domain::settings::{AppLinks, Overrides, PageLogo, Pages, RateLimit, SimulatedTargets, Source};
use domain::tag_url::TagUrlCheck;
use storage::{Conflict, StorageError};

/// The current value of a setting.
#[derive(Serialize, ToSchema)]
pub(crate) struct Setting<T> {
    value: T,
    source: Source,
    /// Whether an argument or the environment fixes the value. If so, it cannot be changed here.
    read_only: bool,
}

/// The setting `tag_url`, with the last result of its check.
#[derive(Serialize, ToSchema)]
pub(crate) struct TagUrlSetting {
    value: String,
    source: Source,
    /// Whether an argument or the environment fixes the value. If so, it cannot be changed here.
    read_only: bool,
    /// The last check of this address; null if there was none.
    check: Option<TagUrlCheck>,
}

/// The setting `app_links`, with its source.
// A `Setting` would repeat the schema of `AppLinks` in the document of the API.
#[derive(Serialize, ToSchema)]
pub(crate) struct AppLinksSetting {
    value: Vec<AppLinks>,
    source: Source,
    /// Whether an argument or the environment fixes the value. If so, it cannot be changed here.
    read_only: bool,
}

/// The setting `pages`, with the logo.
#[derive(Serialize, ToSchema)]
pub(crate) struct PagesSetting {
    value: Pages,
    source: Source,
    /// Whether an argument or the environment fixes the value. If so, it cannot be changed here.
    read_only: bool,
    /// The logo on plain pages; null if there is none. `PUT /settings/logo` sets it.
    logo: Option<PageLogo>,
}

/// The current settings, each with its source.
#[derive(Serialize, ToSchema)]
pub(crate) struct SettingsView {
    /// Base of the URLs of tags that are printed and encoded.
    tag_url: TagUrlSetting,
    /// The `app_id` in every payload.
    app_id: Setting<i64>,
    /// Two-letter code used when a visitor's country is unknown; may be empty.
    default_country: Setting<String>,
    /// Header in which a trusted proxy names the visitor's country.
    country_header: Setting<Option<String>>,
    /// Address blocks of proxies whose forwarding headers are trusted.
    trusted_proxies: Setting<Vec<String>>,
    /// Months for which interactions are kept.
    retention_months: Setting<u32>,
    /// Months for which rows of the audit log are kept.
    audit_months: Setting<u32>,
    /// Months for which submissions are kept.
    submission_months: Setting<u32>,
    /// Free disk space of a SQLite database, in mebibytes, below which an alert is raised; 0 for no
    /// alert.
    disk_low_mebibytes: Setting<u32>,
    /// The redirect target of simulated tags.
    simulated_targets: Setting<SimulatedTargets>,
    /// Number of refused calls per client and minute. Above it, the client gets 429.
    rate_limit: Setting<RateLimit>,
    /// Host names of the admin API, in addition to loopback names and the listener's address.
    hosts: Setting<Vec<String>>,
    /// The apps that open tags' URLs, by host.
    app_links: AppLinksSetting,
    /// The look and the texts of plain pages.
    pages: PagesSetting,
}

impl SettingsView {
    /// The current settings, with `stored` as the stored ones.
    fn new(
        service: &Service,
        stored: &Overrides,
        checks: Vec<TagUrlCheck>,
        logo: Option<PageLogo>,
    ) -> Result<Self, ApiError> {
        const fn is_fixed(source: Source) -> bool {
            matches!(source, Source::Argument | Source::Environment)
        }
        fn setting<T>(value: T, source: Source) -> Setting<T> {
            Setting {
                value,
                source,
                read_only: is_fixed(source),
            }
        }
        let layers = &service.layers;
        let settings = layers.in_force(stored).map_err(|_| ApiError::Internal)?;
        let source = |name| layers.source(stored, name);
        let networks = settings.trusted_proxies.iter().map(ToString::to_string);
        let rate_limit = RateLimit::from_number(settings.rate_limit);
        let mut checks = checks.into_iter();
        let check = checks.find(|check| check.tag_url == settings.tag_url);
        Ok(Self {
            tag_url: {
                let source = source("tag_url");
                TagUrlSetting {
                    value: settings.tag_url,
                    source,
                    read_only: is_fixed(source),
                    check,
                }
            },
            app_id: setting(settings.app_id, source("app_id")),
            default_country: setting(settings.default_country, source("default_country")),
            country_header: setting(settings.country_header, source("country_header")),
            trusted_proxies: setting(networks.collect(), source("trusted_proxies")),
            retention_months: setting(settings.retention_months, source("retention_months")),
            audit_months: setting(settings.audit_months, source("audit_months")),
            submission_months: setting(settings.submission_months, source("submission_months")),
            disk_low_mebibytes: setting(settings.disk_low_mebibytes, source("disk_low_mebibytes")),
            simulated_targets: setting(settings.simulated_targets, source("simulated_targets")),
            rate_limit: setting(rate_limit, source("rate_limit")),
            hosts: setting(settings.hosts, source("hosts")),
            app_links: {
                let source = source("app_links");
                AppLinksSetting {
                    value: settings.app_links,
                    source,
                    read_only: is_fixed(source),
                }
            },
            pages: {
                let source = source("pages");
                PagesSetting {
                    value: settings.pages,
                    source,
                    read_only: is_fixed(source),
                    logo,
                }
            },
        })
    }
}

/// Get the settings
///
/// Returns each setting with its value and its source: argument, environment, stored setting or
/// default.
#[utoipa::path(
    get, path = "/settings", tag = "settings",
    responses((status = OK, body = SettingsView), Common)
)]
pub(crate) async fn get(Asked(service): Asked) -> Result<Edited<SettingsView>, ApiError> {
    let stored = service.storage.settings().await?;
    view(&service, stored).await
}

async fn view(service: &Service, stored: Overrides) -> Result<Edited<SettingsView>, ApiError> {
    let checks = service.storage.tag_url_checks().await?;
    let logo = service.storage.page_logo().await?;
    let shown = SettingsView::new(service, &stored, checks, logo)?;
    Ok(Edited::shown_as(stored, |_| shown))
}

/// Change settings
///
/// A merge patch (RFC 7396) of values: members that are not sent stay unchanged, and `null`
/// restores the default. The change takes effect at once.
#[utoipa::path(
    patch, path = "/settings", tag = "settings",
    request_body(content = Overrides, content_type = "application/merge-patch+json"),
    responses((status = OK, body = SettingsView), Conflicting, ChangedMeanwhile, BadBody, Written, Common)
)]
pub(crate) async fn update(
    Asked(service): Asked,
    IfMatch(expected): IfMatch,
    patch: Patch,
) -> Result<Edited<SettingsView>, ApiError> {
    let fixed = [
        &service.layers.fixed.argument,
        &service.layers.fixed.environment,
    ];
    if let Some(name) = patch
        .names()
        .find(|name| fixed.iter().any(|over| over.names(name)))
    {
        let why = format!(
            "{name} is fixed by an argument or the environment of the service, \
             and can be changed there only."
        );
        let why = FieldError::of(name.to_owned(), why);
        return Err(ApiError::Conflict(Code::SettingFixed, why));
    }
    // Check names first: a null member is removed before the rest is parsed, so an unknown name
    // would go unnoticed.
    if let Some(name) = patch.names().find(|name| !Overrides::has(name)) {
        let why = format!("There is no setting {name}.");
        let why = FieldError::of(name.to_owned(), why);
        return Err(ApiError::Invalid(why));
    }
    let defaults = service.layers.defaults.clone();
    let edit = move |stored: Overrides| {
        expected.check(Some(&stored))?;
        let after: Overrides = patch.apply(&stored)?;
        defaults.with(&after).map_err(FieldError::from)?;
        Ok(after)
    };
    let changed = service.change_settings(Box::new(edit)).await;
    if let Err(StorageError::Conflict(Conflict::Changed(_))) = changed {
        let stored = service.storage.settings().await?;
        let current = view(&service, stored).await?;
        return Err(current.changed());
    }
    view(&service, changed?).await
}
