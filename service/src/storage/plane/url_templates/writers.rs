//! Who writes chips by a URL template that are no inlays yet. They have the template's number alone, and
//! their chips the text of it: it stays as it is until they are over.

use crate::encoding::Form;
use crate::encoding::order::OrderPlan;
use crate::encoding::run::RunPlan;
use crate::id::{EncodingRunId, FactoryOrderId, UrlTemplateId};
use crate::storage::plane::{Query, encodings};
use crate::storage::{InUse, StorageError};

/// Refuses if there is one.
pub(super) async fn none(db: &mut dyn Query, id: UrlTemplateId) -> Result<(), StorageError> {
    half_way(db, id).await?;
    runs(db, id).await?;
    orders(db, id).await
}

async fn half_way(db: &mut dyn Query, id: UrlTemplateId) -> Result<(), StorageError> {
    let sql = format!(
        "SELECT uid, form FROM encodings WHERE {} AND form IS NOT NULL ORDER BY id",
        encodings::OPEN
    );
    let (mut chips, mut first) = (0, None);
    for mut row in db.query(&sql, &[]).await? {
        let uid = row.take()?;
        let form: Form = row.json("form")?;
        if form.url_template_id == Some(id) {
            chips += 1;
            first = first.or(Some(uid));
        }
    }
    match first {
        None => Ok(()),
        Some(first) => Err(InUse::ByEncodings { chips, first }.into()),
    }
}

async fn runs(db: &mut dyn Query, template: UrlTemplateId) -> Result<(), StorageError> {
    let sql = "SELECT id, name, settings FROM encoding_runs WHERE closed_at IS NULL ORDER BY id";
    for mut row in db.query(sql, &[]).await? {
        let id: EncodingRunId = row.take()?;
        let name = row.take()?;
        let plan: RunPlan = row.json("encoding run")?;
        if plan.url_template_id == Some(template) {
            return Err(InUse::ByRun { name, id }.into());
        }
    }
    Ok(())
}

/// A chip whose tag is deleted cannot come back any more.
async fn orders(db: &mut dyn Query, template: UrlTemplateId) -> Result<(), StorageError> {
    let sql = "SELECT o.id, o.name, o.settings, count(*) FROM factory_orders o
         JOIN factory_order_positions p ON p.order_id = o.id AND p.uid IS NULL
         JOIN tags t ON t.id = p.tag_id AND t.deleted_at IS NULL
         GROUP BY o.id, o.name, o.settings ORDER BY o.id";
    for mut row in db.query(sql, &[]).await? {
        let id: FactoryOrderId = row.take()?;
        let name = row.take()?;
        let plan: OrderPlan = row.json("factory order")?;
        let chips = row.take()?;
        if plan.url_template_id == Some(template) {
            return Err(InUse::ByOrder { name, id, chips }.into());
        }
    }
    Ok(())
}
