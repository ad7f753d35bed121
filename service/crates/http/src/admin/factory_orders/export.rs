//! `GET /admin/v1/factory-orders/{id}/export`.

use std::borrow::Cow;

use axum::response::Response;

use crate::admin::Asked;
use crate::admin::export::TableOptions;
use crate::admin::extract::path::Id;
use crate::admin::extract::query::Query;
use crate::error::{ApiError, Common, Invalid, NotFound};
use crate::schema::Binary;
use app::encoder::{self, OrderRow};
use domain::id::FactoryOrderId;
use domain::tag::cell::encode as cell;
use encoding::order::BUREAU_VERSION;
use inlay::template::Field;

/// The columns of `order.csv`.
const COLUMNS: [&str; 17] = [
    "position",
    "slug",
    "technology",
    "url",
    "ndef_hex",
    "uid_offset",
    "counter_offset",
    "picc_offset",
    "enc_offset",
    "enc_length",
    "tamper_offset",
    "mac_input_offset",
    "mac_offset",
    "change_file_settings_hex",
    "cc_write_access",
    "key_version",
    "lock",
];

/// The value of the capability container that makes a chip read-only for phones.
const READ_ONLY: &str = "FF";

/// Export a factory order
///
/// `order.csv` for a bureau (RFC 4180), or the same as a workbook (`.xlsx`): every byte to write to
/// the chip of each position, without keys.
#[utoipa::path(
    get, path = "/factory-orders/{id}/export", tag = "factory orders", params(("id" = FactoryOrderId, Path), TableOptions),
    responses(
        (status = OK, content(
            (String = "text/csv; charset=utf-8"),
            (inline(Binary) = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        )),
        NotFound, Invalid, Common
    )
)]
pub(crate) async fn export(
    Asked(service): Asked,
    Id(id): Id<FactoryOrderId>,
    Query(file): Query<TableOptions>,
) -> Result<Response, ApiError> {
    let (_, rows) = encoder::order_rows(&service, id).await?;
    let csv = write(&rows).map_err(|_| ApiError::Internal)?;
    Ok(file.answer("Factory order", "order", csv))
}

fn write(rows: &[OrderRow]) -> Result<Vec<u8>, csv::Error> {
    let mut csv = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(Vec::new());
    csv.write_record(COLUMNS)?;
    for OrderRow {
        position,
        sheet,
        technology,
    } in rows
    {
        let hex = |bytes: &[u8]| format!("{:X}", base16ct::HexDisplay(bytes));
        let number = |number: Option<usize>| number.map_or_else(String::new, |n| n.to_string());
        let mirrored = |field| sheet.mirrors.iter().find(|one| one.field == field);
        let offset = |field| number(mirrored(field).map(|one| one.offset));
        let settings = sheet.file_settings.as_deref().unwrap_or_default();
        csv.write_record([
            position.position.to_string(),
            cell(Some(Cow::Borrowed(&position.slug))).into_owned(),
            technology.to_string(),
            cell(Some(Cow::Borrowed(&sheet.url))).into_owned(),
            hex(&sheet.bytes),
            offset(Field::Uid),
            offset(Field::Counter),
            offset(Field::Picc),
            offset(Field::Enc),
            number(mirrored(Field::Enc).map(|one| one.length)),
            number(sheet.tamper),
            number(sheet.mac_input.map(|(start, _)| start)),
            offset(Field::Mac),
            hex(settings),
            READ_ONLY.to_owned(),
            BUREAU_VERSION.to_string(),
            // Key 0 allows the chip to be written again, so nothing is permanent.
            "no".to_owned(),
        ])?;
    }
    csv.into_inner().map_err(|error| error.into_error().into())
}
