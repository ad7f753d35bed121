//! The test sheets that a staff phone can add rows to.

use crate::service::Service;
use domain::id::SheetId;
use domain::phone::Phone;
use domain::sheet::{RowFields, Sheet, SheetRow};
use domain::trace::TracedInteraction;
use storage::StorageError;

/// How many open sheets are offered, the newest ones.
const OFFERED: usize = 20;

/// The open sheets, the newest first. There are none for a phone that is limited to groups, as there
/// are none for a token with such a limit: a sheet is of no group.
pub(super) async fn open_sheets(service: &Service) -> Result<Vec<Sheet>, StorageError> {
    if service.storage.is_limited() {
        return Ok(Vec::new());
    }
    service.storage.open_sheets(OFFERED).await
}

/// The row of the sheet that already has the tag or the inlay of this tap, the newest one.
pub(super) async fn row_before(
    service: &Service,
    sheet: SheetId,
    tap: &TracedInteraction,
) -> Result<Option<SheetRow>, StorageError> {
    let rows = service.storage.sheet_rows(sheet).await?.unwrap_or_default();
    let (uid, tag) = (uid(tap), tap.interaction.tag_id);
    let is_same = |row: &SheetRow| row.fields.is_about(uid.as_deref(), tag);
    Ok(rows.into_iter().rfind(is_same))
}

/// A row about this tap, which the phone read.
pub(super) fn fields(
    phone: &Phone,
    tap: &TracedInteraction,
    verdict: &str,
    reason: String,
) -> RowFields {
    let verdict_of_tap = tap.interaction.verdict;
    RowFields {
        uid: uid(tap),
        tag_id: tap.interaction.tag_id,
        counter: verdict_of_tap.counters().0,
        verdict: verdict.to_owned(),
        reason,
        reader: Some(phone.name.clone()),
    }
}

/// The UID in the code, in hexadecimal.
fn uid(tap: &TracedInteraction) -> Option<String> {
    let uid = tap.inlay.map(|inlay| inlay.uid);
    let uid = uid.or_else(|| tap.interaction.verdict.other_uid());
    uid.map(|uid| uid.to_string())
}
