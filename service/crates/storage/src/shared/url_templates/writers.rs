//! Writers of chips with a URL template whose chips are not inlays yet. They store only the
//! template's id, and their chips the template's text. So the template must not change until they
//! finish.

use crate::shared::dialect::Dialect;
use crate::shared::{Query, encodings};
use crate::value::values;
use crate::{InUse, StorageError};
use domain::id::{EncodingRunId, FactoryOrderId, UrlTemplateId};
use inlay::Uid;

/// Refuses if there is any such writer.
pub(super) async fn none(db: &mut dyn Query, id: UrlTemplateId) -> Result<(), StorageError> {
    half_way(db, id).await?;
    runs(db, id).await?;
    orders(db, id).await
}

/// The condition that a JSON column names the template ?1.
fn names(dialect: Dialect, column: &str) -> String {
    match dialect {
        Dialect::Sqlite => format!("json_extract({column}, '$.url_template_id') = ?1"),
        Dialect::Postgres => {
            format!("CAST(CAST({column} AS JSON) ->> 'url_template_id' AS BIGINT) = ?1")
        }
    }
}

async fn half_way(db: &mut dyn Query, id: UrlTemplateId) -> Result<(), StorageError> {
    let sql = format!(
        "SELECT uid FROM encodings WHERE {} AND {} ORDER BY id",
        encodings::OPEN,
        names(db.dialect(), "form")
    );
    let (mut chips, mut first) = (0, None);
    for mut row in db.query(&sql, &values![id]).await? {
        let uid: Uid = row.take()?;
        chips += 1;
        first = first.or(Some(uid));
    }
    match first {
        None => Ok(()),
        Some(first) => Err(InUse::ByEncodings { chips, first }.into()),
    }
}

async fn runs(db: &mut dyn Query, template: UrlTemplateId) -> Result<(), StorageError> {
    let sql = format!(
        "SELECT id, name FROM encoding_runs WHERE closed_at IS NULL AND {} ORDER BY id LIMIT 1",
        names(db.dialect(), "settings")
    );
    let Some(mut row) = db.row(&sql, &values![template]).await? else {
        return Ok(());
    };
    let id: EncodingRunId = row.take()?;
    let name = row.take()?;
    Err(InUse::ByRun { name, id }.into())
}

/// A chip whose tag is deleted can no longer come back.
async fn orders(db: &mut dyn Query, template: UrlTemplateId) -> Result<(), StorageError> {
    let sql = format!(
        "SELECT o.id, o.name, count(*) FROM factory_orders o
         JOIN factory_order_positions p ON p.order_id = o.id AND p.uid IS NULL
         JOIN tags t ON t.id = p.tag_id AND t.deleted_at IS NULL
         WHERE {} GROUP BY o.id, o.name ORDER BY o.id LIMIT 1",
        names(db.dialect(), "o.settings")
    );
    let Some(mut row) = db.row(&sql, &values![template]).await? else {
        return Ok(());
    };
    let id: FactoryOrderId = row.take()?;
    let name = row.take()?;
    let chips = row.take()?;
    Err(InUse::ByOrder { name, id, chips }.into())
}
