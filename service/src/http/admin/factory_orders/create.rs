//! `POST /admin/v1/factory-orders`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::encode;
use crate::encoding::order::{Order, OrderPlan};
use crate::encoding::run::RUN_MAX;
use crate::field_error::FieldError;
use crate::http::admin::body::Body;
use crate::http::error::{ApiError, BadBody, Common, Conflicting, Written};
use crate::id::TagId;
use crate::service::Service;
use crate::tag::{NAME_MAX, text_fits};

/// An order to be created.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewFactoryOrder {
    /// Its name.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// Its tags, in the order of the positions. Those that have an inlay are left out.
    #[schema(min_items = 1, max_items = 10_000)]
    tag_ids: Vec<TagId>,
    /// What is written.
    #[serde(default, deserialize_with = "crate::object::one")]
    plan: OrderPlan,
}

/// Create a factory order
///
/// For each tag a random set of five keys is made and stored, which is used for one chip and for
/// nothing else. The order leaves as `/export`, `/instructions` and `/keys`.
#[utoipa::path(
    post, path = "/factory-orders", tag = "factory orders", request_body = NewFactoryOrder,
    responses((status = CREATED, body = Order), Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn create(
    State(service): State<Arc<Service>>,
    Body(order): Body<NewFactoryOrder>,
) -> Result<(StatusCode, Json<Order>), ApiError> {
    let invalid = |field, why| Err(ApiError::Invalid(FieldError::of(field, why)));
    if order.name.trim().is_empty() || !text_fits(&order.name, NAME_MAX) {
        let why = format!("An order needs a name of 1 to {NAME_MAX} characters.");
        return invalid("name", why);
    }
    let tags = u32::try_from(order.tag_ids.len()).unwrap_or(u32::MAX);
    if tags == 0 || tags > RUN_MAX {
        return invalid("tag_ids", format!("An order needs 1 to {RUN_MAX} tags."));
    }
    let order = encode::create_order(&service, order.name, order.plan, order.tag_ids);
    Ok((StatusCode::CREATED, Json(order.await?)))
}
