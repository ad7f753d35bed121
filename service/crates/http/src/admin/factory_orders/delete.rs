//! `DELETE /admin/v1/factory-orders/{id}`.

use axum::http::StatusCode;

use crate::admin::Asked;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, Conflicting, NotFound, Written};
use domain::id::FactoryOrderId;

/// Delete a factory order
///
/// For an order that will not be delivered. Its keys are deleted, so nobody can change chips that
/// the bureau has written. Fails once a chip has been delivered.
#[utoipa::path(
    delete, path = "/factory-orders/{id}", tag = "factory orders", params(("id" = FactoryOrderId, Path)),
    responses((status = NO_CONTENT), NotFound, Conflicting, Written, Common)
)]
pub(crate) async fn delete(
    Asked(service): Asked,
    Id(id): Id<FactoryOrderId>,
) -> Result<StatusCode, ApiError> {
    let deleted = service.storage.delete_factory_order(id).await?;
    deleted.ok_or(ApiError::NotFound("factory order"))?;
    Ok(StatusCode::NO_CONTENT)
}
