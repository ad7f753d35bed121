//! The tag URLs in encoded chips. A chip contains the tag URL of its newest verified encoding,
//! which is stored in the form of that encoding. Later changes of the setting do not change it.

use crate::shared::Query;
use crate::shared::dialect::Dialect;
use crate::{CarriedTagUrl, StorageError};

/// The id of the newest verified encoding of the inlay `i`.
const NEWEST: &str =
    "(SELECT max(v.id) FROM encodings v WHERE v.uid = i.uid AND v.state = 'verified')";

/// The tag URL in the chip of inlay `i`; NULL if another service encoded it, or a URL template.
pub(super) fn by_inlay(dialect: Dialect) -> String {
    let (tag_url, canonical) = (tag_url(dialect), is_canonical(dialect));
    format!("(SELECT {tag_url} FROM encodings e WHERE e.id = {NEWEST} AND {canonical})")
}

pub(super) async fn tag_urls(db: &mut dyn Query) -> Result<Vec<CarriedTagUrl>, StorageError> {
    let (tag_url, canonical) = (tag_url(db.dialect()), is_canonical(db.dialect()));
    let sql = format!(
        "SELECT c.tag_url, count(*) FROM (
             SELECT {tag_url} AS tag_url FROM inlays i JOIN encodings e ON e.id = {NEWEST}
             WHERE i.deleted_at IS NULL AND NOT i.simulated AND {canonical}
         ) c GROUP BY c.tag_url ORDER BY count(*) DESC, c.tag_url"
    );
    let found = db.query(&sql, &[]).await?.into_iter();
    found
        .map(|mut row| {
            Ok(CarriedTagUrl {
                tag_url: row.take()?,
                inlays: row.take()?,
            })
        })
        .collect()
}

pub(super) async fn printed_codes(db: &mut dyn Query) -> Result<u64, StorageError> {
    let sql =
        "SELECT count(*) FROM tags WHERE deleted_at IS NULL AND has_qr_code AND NOT simulated";
    db.count(sql, &[]).await
}

/// The text before the slug in the template of the encoding `e`.
fn tag_url(dialect: Dialect) -> String {
    match dialect {
        Dialect::Sqlite => {
            let text = "json_extract(e.form, '$.template.template')";
            format!("substr({text}, 1, instr({text}, '/{{slug}}') - 1)")
        }
        Dialect::Postgres => {
            let text = "(CAST(e.form AS JSON) -> 'template' ->> 'template')";
            format!("substr({text}, 1, strpos({text}, '/{{slug}}') - 1)")
        }
    }
}

fn is_canonical(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "json_extract(e.form, '$.url_template_id') IS NULL",
        Dialect::Postgres => "(CAST(e.form AS JSON) ->> 'url_template_id') IS NULL",
    }
}
