//! Test sheets in the storage.

use serde_json::json;
use tapdesk_service::sheet::{Expected, RowFields, SheetFields};
use tapdesk_service::storage::SheetEdit;

use crate::storage::backend::{Backend, Database};

pub(crate) async fn rows_are_kept_in_their_order_until_the_sheet_is_closed<B: Backend>(
    db: Database<B>,
) {
    let fields = SheetFields::new("Pallet 3", Some(3));
    let sheet = db.insert_sheet(fields, Expected::default()).await.unwrap();
    let row = |verdict: &str| -> RowFields {
        serde_json::from_value(json!({"uid": "04DE5F1EACC040", "verdict": verdict})).unwrap()
    };
    let closed = |closed| -> SheetEdit {
        Box::new(move |mut fields| {
            fields.closed = closed;
            Ok(fields)
        })
    };
    for (position, verdict) in [(1, "ok"), (2, "duplicate")] {
        let kept = db.append_sheet_row(sheet.id, row(verdict)).await;
        assert_eq!(kept.unwrap().unwrap().position, position);
    }
    db.edit_sheet(sheet.id, closed(true)).await.unwrap();
    assert!(db.append_sheet_row(sheet.id, row("ok")).await.is_err());
    db.edit_sheet(sheet.id, closed(false)).await.unwrap();
    db.append_sheet_row(sheet.id, row("locked")).await.unwrap();

    let rows = db.sheet_rows(sheet.id).await.unwrap().unwrap();
    let verdicts: Vec<_> = rows.iter().map(|row| row.fields.verdict.as_str()).collect();
    assert_eq!(verdicts, ["ok", "duplicate", "locked"]);
    assert_eq!(db.sheet(sheet.id).await.unwrap().unwrap().row_count, 3);
}
