//! `GET /admin/v1/factory-orders`.

use axum::Json;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::admin::Asked;
use crate::admin::extract::page::{List, Page, PageParams, counted};
use crate::error::{ApiError, Common, Invalid};
use domain::id::FactoryOrderId;
use encoding::order::Order;
use inlay::Uid;

/// Filters of factory orders.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct OrderQuery {
    /// Only orders for which the chip with this UID came back: the order of a chip on a reader.
    uid: Option<Uid>,
    /// Whether to count the items of all pages.
    count: bool,
}

/// List factory orders
///
/// The newest first, without their positions.
#[utoipa::path(
    get, path = "/factory-orders", tag = "factory orders", params(OrderQuery, PageParams),
    responses((status = OK, body = Page<Order>), Invalid, Common)
)]
pub(crate) async fn list(
    Asked(service): Asked,
    list: List<FactoryOrderId, OrderQuery>,
) -> Result<Json<Page<Order>>, ApiError> {
    let storage = &service.storage;
    let OrderQuery { uid, count } = list.filter;
    let found = storage.factory_orders(uid, list.after, list.and_one_more());
    let found = found.await?;
    let count = counted(count, storage.count_factory_orders(uid)).await?;
    Ok(Json(
        list.page(found, |order: &Order| order.id).with_count(count),
    ))
}
