//! `GET /admin/v1/factory-orders/{id}`.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use crate::admin::Asked;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, NotFound};
use domain::id::FactoryOrderId;
use encoding::order::{Order, OrderPosition};

/// A factory order with its positions.
#[derive(Serialize, ToSchema)]
pub(crate) struct WholeFactoryOrder {
    #[serde(flatten)]
    order: Order,
    /// The positions of the order, in their order.
    positions: Vec<OrderPosition>,
}

/// Get a factory order with its positions
#[utoipa::path(
    get, path = "/factory-orders/{id}", tag = "factory orders", params(("id" = FactoryOrderId, Path)),
    responses((status = OK, body = WholeFactoryOrder), NotFound, Common)
)]
pub(crate) async fn get(
    Asked(service): Asked,
    Id(id): Id<FactoryOrderId>,
) -> Result<Json<WholeFactoryOrder>, ApiError> {
    let missing = || ApiError::NotFound("factory order");
    let positions = service.storage.factory_order_positions(id).await?;
    let positions = positions.ok_or_else(missing)?;
    let order = service.storage.factory_order(id).await?;
    let order = order.ok_or_else(missing)?;
    Ok(Json(WholeFactoryOrder { order, positions }))
}
