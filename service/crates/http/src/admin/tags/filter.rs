//! The filter of tags in requests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::attribute_filter::Values;
use crate::error::ApiError;
use domain::clock::Timestamp;
use domain::field_error::FieldError;
use domain::id::{ExperienceId, GroupId};
use domain::tag::{Status, check_value};
use domain::text::{NAME_MAX, text_fits};
use domain::world::World;
use storage::{TagFilter, search};

/// A filter of tags. Without members it selects all real tags.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
#[schema(as = TagFilter)]
pub(crate) struct Filter {
    /// Words, each of which must be found in the name, the slug, a former slug, the title or a value of
    /// an attribute, in the name, the code or the GTIN of a group above the tag, or in the UID of an
    /// inlay. Case and accents make no difference. Any part of a text is found, of a long value in its
    /// first 200 characters. A code such as `SN-2026-0815` is also found without its separators. Of a
    /// UID any four or more digits in a row are found, with or without colons, dashes or spaces, eight
    /// or more in either order of bytes. Four or five digits from 0 to 9 are only found at its end.
    #[param(max_length = 200)]
    #[schema(max_length = 200)]
    pub(super) q: Option<String>,
    /// Only tags that lead to this experience, by themselves or by their group.
    pub(super) experience_id: Option<ExperienceId>,
    /// Only tags in this group, or in a group below it.
    pub(super) group_id: Option<GroupId>,
    /// `true`: only tags that lead to an experience. `false`: only the others.
    pub(super) assigned: Option<bool>,
    /// Only tags with this status.
    pub(super) status: Option<Status>,
    /// `true`: only tags whose taps are verified. `false`: only the others.
    pub(super) verifier_enabled: Option<bool>,
    /// `true`: only tags with a printed QR code. `false`: only the others.
    pub(super) has_qr_code: Option<bool>,
    /// `true`: only tags with an inlay that reported an open or broken tamper loop. `false`: only
    /// the others.
    pub(super) opened: Option<bool>,
    /// `true`: only tags with an inlay. `false`: only the others.
    pub(super) has_inlay: Option<bool>,
    /// Only tags whose last tap was at this time or later. Taps of the last 30 seconds may be
    /// missing.
    pub(super) tapped_since: Option<Timestamp>,
    /// Only tags whose last tap was before this time.
    pub(super) tapped_until: Option<Timestamp>,
    /// Only tags that have one of the values of each of these attributes, exactly.
    #[param(ignore)]
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) attributes: Values,
    /// `false` for real tags, `true` for simulated tags, `all` for both.
    #[param(inline)]
    pub(super) simulated: World,
}

/// Most values of attributes in a filter: more than anybody selects by hand.
const VALUES: usize = 100;

impl Filter {
    /// The filter with the attributes of the same query.
    pub(super) fn with(self, attributes: Values) -> Self {
        Self { attributes, ..self }
    }

    /// Converts to the storage's filter of tags that are not deleted. A blank `q` is ignored.
    pub(in crate::admin) fn check(self) -> Result<TagFilter, ApiError> {
        let q = self.q.filter(|q| q.contains('\0') || !search::is_blank(q));
        if q.as_ref().is_some_and(|q| !text_fits(q, NAME_MAX)) {
            let why = format!("q has at most {NAME_MAX} characters, and no NUL character.");
            return Err(ApiError::Invalid(FieldError::of("q", why)));
        }
        if q.as_ref().is_some_and(|q| search::words(q).is_empty()) {
            let why = "q has only accents, and nothing to search for.";
            return Err(ApiError::Invalid(FieldError::of("q", why)));
        }
        check_attributes(&self.attributes)?;
        Ok(TagFilter {
            q,
            experience_id: self.experience_id,
            group_id: self.group_id,
            assigned: self.assigned,
            status: self.status,
            verifier_enabled: self.verifier_enabled,
            has_qr_code: self.has_qr_code,
            opened: self.opened,
            has_inlay: self.has_inlay,
            attributes: self.attributes,
            tapped_since: self.tapped_since,
            tapped_until: self.tapped_until,
            world: self.simulated,
            deleted: false,
        })
    }
}

fn check_attributes(attributes: &Values) -> Result<(), ApiError> {
    let refused = |why: String| Err(ApiError::Invalid(FieldError::of("attributes", why)));
    let number: usize = attributes.values().map(Vec::len).sum();
    if number > VALUES {
        return refused(format!(
            "A filter has at most {VALUES} values of attributes."
        ));
    }
    for (key, values) in attributes {
        if values.is_empty() {
            return refused(format!("The attribute {key} needs at least one value."));
        }
        for value in values {
            if let Err(why) = check_value(value) {
                return refused(format!("The attribute {key}: {why}"));
            }
        }
    }
    Ok(())
}
