//! `GET /admin/v1/factory-orders`.

use axum::Json;

use crate::admin::Asked;
use crate::admin::extract::page::{Counted, List, Page, PageParams, counted};
use crate::error::{ApiError, Common, Invalid};
use domain::id::FactoryOrderId;
use encoding::order::Order;

/// List factory orders
///
/// The newest first, without their positions.
#[utoipa::path(
    get, path = "/factory-orders", tag = "factory orders", params(PageParams, Counted),
    responses((status = OK, body = Page<Order>), Invalid, Common)
)]
pub(crate) async fn list(
    Asked(service): Asked,
    list: List<FactoryOrderId, Counted>,
) -> Result<Json<Page<Order>>, ApiError> {
    let storage = &service.storage;
    let found = storage.factory_orders(list.after, list.and_one_more());
    let found = found.await?;
    let count = counted(list.filter.count, storage.count_factory_orders()).await?;
    Ok(Json(
        list.page(found, |order: &Order| order.id).with_count(count),
    ))
}
