//! `DELETE /admin/v1/factory-orders/{id}`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;

use crate::http::admin::path::Id;
use crate::http::error::{ApiError, Common, Conflicting, NotFound, Written};
use crate::id::FactoryOrderId;
use crate::service::Service;

/// Delete a factory order
///
/// For an order whose chips will not come: its keys are deleted with it, so that nobody can change a chip that a
/// bureau has written. Refused once a chip came back.
#[utoipa::path(
    delete, path = "/factory-orders/{id}", tag = "factory orders", params(("id" = FactoryOrderId, Path)),
    responses((status = NO_CONTENT), NotFound, Conflicting, Written, Common)
)]
pub(crate) async fn delete(
    State(service): State<Arc<Service>>,
    Id(id): Id<FactoryOrderId>,
) -> Result<StatusCode, ApiError> {
    let deleted = service.storage.delete_factory_order(id).await?;
    deleted.ok_or(ApiError::NotFound("factory order"))?;
    Ok(StatusCode::NO_CONTENT)
}
