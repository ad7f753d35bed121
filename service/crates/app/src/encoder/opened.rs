//! Opens the address in the URL of a chip once the chip is verified. A tap that was verified in
//! this process does not show that a phone can reach it.

use std::sync::Arc;
use std::time::Duration;

use crate::prove_address;
use crate::service::Service;
use crate::tag_address::Opened;
use domain::id::EncodingId;
use encoding::OpenedAddress;
use storage::StorageError;

/// How long the last turn of an encoding waits for the result. A later result is stored, too.
const WAIT: Duration = Duration::from_secs(1);

/// Opens the address of a verified encoding, once, and stores whether that worked. The chip counts
/// as encoded in either case.
pub async fn open_address(service: &Arc<Service>, id: EncodingId) {
    let service = Arc::clone(service);
    let opening = tokio::spawn(async move {
        if let Err(error) = open(&service, id).await {
            tracing::warn!(
                "whether the address of an encoding could be opened was not noted: {error}"
            );
        }
    });
    let _ = tokio::time::timeout(WAIT, opening).await;
}

async fn open(service: &Service, id: EncodingId) -> Result<(), StorageError> {
    let Some(encoding) = service.storage.encoding(id).await? else {
        return Ok(());
    };
    let outcome = encoding.state.outcome();
    let is_due = outcome.is_some_and(|outcome| outcome.address.is_none());
    let form = encoding.form.filter(|form| form.url_template_id.is_none());
    let Some(form) = form.filter(|_| is_due) else {
        return Ok(());
    };
    let address = match prove_address::open(service, &form.address()).await {
        Opened::Ours => OpenedAddress {
            opened: true,
            reason: None,
        },
        Opened::Failed(reason, _) => OpenedAddress {
            opened: false,
            reason: Some(reason),
        },
    };
    service.storage.note_address_opened(id, address).await
}
