//! The place at which a tap comes in: the part of its URL that is the tag's address.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::verify::UrlCode;
use crate::service::{CachedTag, Matched, TapTemplate, unmarked};
use domain::id::UrlTemplateId;
use domain::interaction::{Claim, Unchecked, Verdict};
use inlay::template::{Addressed, Request};

/// A place at which tags answer.
#[derive(Clone, Debug)]
pub enum Place {
    /// The canonical form: `/t/{slug}`.
    Slug {
        /// Slug in the URL.
        slug: String,
        /// The path, unchanged from the request.
        path: String,
    },
    /// The address of a URL template.
    Template {
        /// URL template that the request matched.
        template: Arc<TapTemplate>,
        /// The values of its placeholders.
        addressed: Box<Addressed>,
        /// The path, unchanged from the request.
        path: String,
        /// Further templates that the request matches. They are asked in this order if this one
        /// names nobody for certain.
        others: Vec<Matched>,
    },
}

/// The cookie that holds a tap's key, so that a reload repeats its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyCookie {
    /// Name of the cookie.
    pub name: Cow<'static, str>,
    /// Path attribute of the cookie.
    pub path: String,
    /// Whether it is sent only over https; `None` if the tag URL decides that.
    pub secure: Option<bool>,
}

/// The name of the cookie if its path is the tag's own.
const COOKIE: &str = "tapdesk_tap";

impl Place {
    /// The place of a request that matches URL templates, which are in the order in which they are
    /// asked; `None` if there are none.
    pub fn at_template(matched: Vec<Matched>, path: &str) -> Option<Self> {
        let mut matched = matched.into_iter();
        let (template, addressed) = matched.next()?;
        Some(Self::Template {
            template,
            addressed: Box::new(addressed),
            path: path.to_owned(),
            others: matched.collect(),
        })
    }

    /// The same place for each template by itself, in the order in which they are asked.
    pub(super) fn each(&self) -> Vec<Self> {
        let Self::Template {
            template,
            addressed,
            path,
            others,
        } = self
        else {
            return vec![self.clone()];
        };
        let first = (template.clone(), Addressed::clone(addressed));
        let all = std::iter::once(&first).chain(others);
        all.filter_map(|one| Self::at_template(vec![one.clone()], path))
            .collect()
    }

    /// Whether several templates may name the tag.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self, Self::Template { others, .. } if !others.is_empty())
    }

    /// The slug that was asked for, if the place has one.
    pub fn slug(&self) -> Option<&str> {
        match self {
            Self::Slug { slug, .. } => Some(slug),
            Self::Template { addressed, .. } => addressed.slug.as_deref(),
        }
    }

    /// The URL template of this place, if this is the first real tap of its inlays here: an owner
    /// who moves their URLs to this service waits for it. A visit without a code, with a wrong one,
    /// or with one of an unknown inlay does not count. If the code is not checked, the tag must have
    /// an inlay of the template. If chips write no code, each tap of a tag counts: such a list often
    /// has no UIDs.
    pub(super) fn first_real_tap(
        &self,
        tag: Option<&CachedTag>,
        claim: &Claim,
        simulated: bool,
    ) -> Option<UrlTemplateId> {
        let Self::Template {
            template,
            addressed,
            ..
        } = self
        else {
            return None;
        };
        if simulated || template.was_tapped() {
            return None;
        }
        let has_inlay = |tag: &CachedTag| {
            let mut inlays = tag.of_templates().unwrap_or_default().iter();
            inlays.any(|inlay| inlay.url_template_id == template.id)
        };
        let is_unchecked = claim.decided() == Some(Verdict::NotChecked(Unchecked::VerifierOff));
        let is_known = if template.template.has_code() {
            addressed.is_complete() && is_unchecked && tag.is_some_and(has_inlay)
        } else {
            tag.is_some()
        };
        let is_theirs = claim.inlay_id().is_some() || is_known;
        is_theirs.then_some(template.id)
    }

    /// Records in memory that the first real tap came in here.
    pub(super) fn note_real_tap(&self) {
        if let Self::Template { template, .. } = self {
            template.note_tap();
        }
    }

    /// Whether the URL is the same at every scan: it contains no code, or only the UID of a chip.
    pub(super) fn is_static(&self, query: &str) -> bool {
        match self {
            Self::Slug { .. } => UrlCode::in_query(query).is_static(),
            Self::Template {
                template,
                addressed,
                ..
            } => template.template.is_static() || matches!(addressed.code, Ok(None)),
        }
    }

    /// The parameters of a URL here that are not its code, its address or a key, in their order.
    pub(super) fn passed(&self, query: &str) -> Vec<(String, String)> {
        let is_code = |pair: &str| pair.starts_with("uid=") || pair.starts_with("token=");
        // Most URLs contain a code and nothing else, which need not be decoded for this.
        if matches!(self, Self::Slug { .. }) && query.split('&').all(is_code) {
            return Vec::new();
        }
        let query = self.with_appended(query);
        let sent = form_urlencoded::parse(query.as_bytes());
        let others = sent.filter(|(name, value)| match self {
            _ if name.is_empty() || name == "rk" => false,
            Self::Slug { .. } => !matches!(&**name, "uid" | "token"),
            Self::Template { template, .. } => !template.template.has_parameter(name, value),
        });
        others
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect()
    }

    /// The query with the parameters that an app appended to a template's path. At a tag's own path,
    /// `query` contains them already.
    fn with_appended<'a>(&'a self, query: &'a str) -> Cow<'a, str> {
        let Self::Template { template, path, .. } = self else {
            return query.into();
        };
        let host = "";
        match (Request { host, path, query }).forgiven() {
            // An `&` can be part of the template's own path.
            Some((_, meant)) if path.contains('&') && !template.template.has_path(path) => meant,
            _ => query.into(),
        }
    }

    /// The value by which a reload of the same URL is recognised.
    pub(super) fn digest(&self, query: &str) -> [u8; 8] {
        let mut digest = Sha256::new();
        if let Self::Template { path, .. } = self {
            digest.update(path);
            digest.update("?");
        }
        digest.update(query);
        let digest = digest.finalize();
        std::array::from_fn(|i| digest[i])
    }

    /// The names that the cookie of a tap here can have.
    pub fn cookie_names(&self, query: &str) -> Vec<Cow<'static, str>> {
        let places = self.each().into_iter();
        places.map(|place| place.cookie(query).name).collect()
    }

    /// The cookie for the key of a tap here.
    pub fn cookie(&self, query: &str) -> KeyCookie {
        let (template, path) = match self {
            Self::Template { template, path, .. } => (template, path),
            Self::Slug { slug, path } => {
                let own = format!("/t/{slug}");
                // A browser does not send a cookie of `/t/slug` to `/t/slug&more`. A semicolon
                // would end the cookie's attribute.
                let is_longer = path.len() > own.len() && !path.ends_with('/');
                return KeyCookie {
                    name: COOKIE.into(),
                    path: if is_longer && !path.contains(';') {
                        path.clone()
                    } else {
                        own
                    },
                    secure: None,
                };
            }
        };
        let template = &template.template;
        let mut name = COOKIE.to_owned();
        if !template.has_slug_in_path() {
            // All tags share its path, so the name distinguishes this URL's cookie from the others.
            let digest = self.digest(unmarked(query).0);
            name.push('_');
            for byte in digest {
                let _ = write!(name, "{byte:02x}");
            }
        }
        KeyCookie {
            name: name.into(),
            path: template.cookie_path(path),
            secure: Some(template.is_https()),
        }
    }
}
