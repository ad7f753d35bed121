//! `POST /admin/v1/factory-orders`.

use axum::Json;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::error::{ApiError, BadBody, Common, Conflicting, Written};
use app::encoder;
use domain::batch::BATCH_MAX;
use domain::field_error::FieldError;
use domain::id::TagId;
use domain::text::Name;
use encoding::order::{Order, OrderPlan};

/// A factory order to create.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewFactoryOrder {
    /// Name of the order.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// The tags, in the order of the positions. Tags that already have an inlay are left out.
    #[schema(min_items = 1, max_items = 10_000)]
    tag_ids: Vec<TagId>,
    /// The content to write to the chips.
    #[serde(default, deserialize_with = "domain::strict_json::one")]
    plan: OrderPlan,
    /// Create the order although the address for its chips, the setting `tag_url`, is not proved.
    /// Otherwise the request fails with `address_not_proved`, unless the plan has a URL template.
    #[serde(default)]
    allow_unproved_address: bool,
}

/// Create a factory order
///
/// For each tag, Tapdesk creates and stores five random keys, which are used only for one chip.
/// Send the bureau `/export`, `/instructions` and `/keys`.
#[utoipa::path(
    post, path = "/factory-orders", tag = "factory orders", request_body = NewFactoryOrder,
    responses((status = CREATED, body = Order), Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn create(
    Asked(service): Asked,
    Body(order): Body<NewFactoryOrder>,
) -> Result<(StatusCode, Json<Order>), ApiError> {
    let NewFactoryOrder {
        name,
        tag_ids,
        plan,
        allow_unproved_address,
    } = order;
    let name = Name::new("An order", name).map_err(ApiError::invalid)?;
    let tags = u32::try_from(tag_ids.len()).unwrap_or(u32::MAX);
    if tags == 0 || tags > BATCH_MAX {
        let why = format!("An order needs 1 to {BATCH_MAX} tags.");
        return Err(ApiError::Invalid(FieldError::of("tag_ids", why)));
    }
    let order = encoder::create_order(&service, name, plan, tag_ids, allow_unproved_address);
    Ok((StatusCode::CREATED, Json(order.await?)))
}
