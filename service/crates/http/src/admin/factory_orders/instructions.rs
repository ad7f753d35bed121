//! `GET /admin/v1/factory-orders/{id}/instructions`.

use axum::http::{HeaderName, header};

use crate::admin::Asked;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, Common, NotFound};
use domain::id::FactoryOrderId;
use domain::keyring::FILE_PURPOSE;
use encoding::order::{BUREAU_VERSION, Order};

/// Get the instructions of a factory order
///
/// A text for the bureau. It explains the columns of `order.csv`, the order in which a chip is
/// written, how to open `keys.sealed`, and which report to return.
#[utoipa::path(
    get, path = "/factory-orders/{id}/instructions", tag = "factory orders", params(("id" = FactoryOrderId, Path)),
    responses((status = OK, body = String, content_type = "text/plain"), NotFound, Common)
)]
pub(crate) async fn instructions(
    Asked(service): Asked,
    Id(id): Id<FactoryOrderId>,
) -> Result<([(HeaderName, &'static str); 2], String), ApiError> {
    let order = service.storage.factory_order(id).await?;
    let order = order.ok_or(ApiError::NotFound("factory order"))?;
    let headers = [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"README.txt\"",
        ),
    ];
    Ok((headers, text(&order)))
}

fn text(order: &Order) -> String {
    let Order {
        id,
        name,
        position_count,
        ..
    } = order;
    format!(
        "\
Factory order {id}: {name}
{position_count} chips, one for each row of order.csv.

order.csv
  position                  number of the chip; keep the rolls in this order
  slug                      name of the chip in its URL
  technology                the chip
  url                       its URL, with zeros where the chip writes
  ndef_hex                  file 2 (E104h) from its first byte: length, then the message
  *_offset, enc_length      decimal, in bytes from the first byte of file 2; empty: not used
  change_file_settings_hex  data of ChangeFileSettings for file 2, after the file number, before encryption
  cc_write_access           byte 0Eh of file 1 (E103h)
  key_version               version with which all five keys are written
  lock                      \"no\": do not lock anything for ever. No random UID, no LRP mode.

keys.sealed
  Five keys for each position, 0 to 4: as hexadecimal text. Key 1 encrypts the PICC data (SDMMetaRead),
  key 2 makes the MAC (SDMFileRead), key 0 changes the chip. Each set is for one chip, once. If a chip
  fails, do not write its keys to another one: leave its position out and report it.
  To open it:  tapdesk-service open-keys keys.sealed
  Or with any program: the file is JSON, its binary values are Base64. The key is Argon2id (version 19)
  of the passphrase and salt with memory_kib, passes and lanes, 32 bytes; the content is AES-256-GCM
  with nonce; additional data \"{FILE_PURPOSE}\"; the tag is at the end. It contains a CSV file with the
  columns position, slug, key_version, key_0 to key_4.

To write a chip (NT4H2421Gx; AN12196)
  1. Select the application, authenticate with key 0 (factory: zeros), compare the UID.
  2. Write ndef_hex to file 2, its first two bytes last.
  3. Change keys 1 to 4 to those of the position, with key version {BUREAU_VERSION}.
  4. ChangeFileSettings of file 2 with change_file_settings_hex.
  5. Write cc_write_access to byte 0Eh of file 1.
  6. Change key 0, last, with key version {BUREAU_VERSION}. Authenticate with it to be sure.
  7. Read file 2 once, as a phone does, and keep the URL for a sample.

What to send back
  A CSV file with the columns position (or slug, or url), uid, status, and if known counter. One row a chip.
  For a sample, put the URL that the chip showed into url: its code is checked with the keys.
  status is empty or ok for a good chip; failed otherwise.
"
    )
}
