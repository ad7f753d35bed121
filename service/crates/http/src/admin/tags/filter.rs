//! The filter of tags in requests.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::error::ApiError;
use domain::field_error::FieldError;
use domain::id::ExperienceId;
use domain::tag::Status;
use domain::text::{NAME_MAX, text_fits};
use domain::world::World;
use storage::TagFilter;

/// A filter of tags. Without members it selects all real tags.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
#[schema(as = TagFilter)]
pub(crate) struct Filter {
    /// A part of the name, the slug or the title, in either case.
    #[param(max_length = 200)]
    #[schema(max_length = 200)]
    pub(super) q: Option<String>,
    /// Only tags that are assigned to this experience.
    pub(super) experience_id: Option<ExperienceId>,
    /// `true`: only tags that are assigned to an experience. `false`: only the others.
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
    /// `false` for real tags, `true` for simulated tags, `all` for both.
    #[param(inline)]
    pub(super) simulated: World,
}

impl Filter {
    /// Converts to the storage's filter of tags that are not deleted. An empty `q` is ignored.
    pub(super) fn check(self) -> Result<TagFilter, ApiError> {
        let q = self.q.filter(|q| !q.is_empty());
        if q.as_ref().is_some_and(|q| !text_fits(q, NAME_MAX)) {
            let why = format!("q has at most {NAME_MAX} characters, and no NUL character.");
            return Err(ApiError::Invalid(FieldError::of("q", why)));
        }
        Ok(TagFilter {
            q,
            experience_id: self.experience_id,
            assigned: self.assigned,
            status: self.status,
            verifier_enabled: self.verifier_enabled,
            has_qr_code: self.has_qr_code,
            opened: self.opened,
            world: self.simulated,
            deleted: false,
        })
    }
}
