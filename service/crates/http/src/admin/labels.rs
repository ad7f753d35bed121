//! `/admin/v1/labels`.

use axum::Json;
use axum::body::Bytes;
use axum::http::HeaderName;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use http_body_util::channel::Sender;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::tags::{Filter, Ids};
use crate::admin::Asked;
use crate::admin::export;
use crate::admin::extract::body::Body;
use crate::error::{ApiError, BadBody, Common, Conflicting, Written};
use crate::schema::Binary;
use app::labels::{self, LabelError, LabelFile, LabelOrder, LabelPreview, LabelSelect};
use domain::field_error::FieldError;
use domain::id::EncodingRunId;
use domain::strict_json;
use label::{Design, Dpi, Format, Qr, Sheet};
use storage::TagSelect;

/// Header with the number of labels.
const TOTAL: HeaderName = HeaderName::from_static("tapdesk-total");

/// The labels to print: which tags, in which form.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = LabelRequest)]
pub(crate) struct NewLabels {
    /// The tags.
    select: Selection,
    /// File format.
    format: Format,
    /// Width and height of a label, in millimetres.
    #[schema(example = json!([50, 30]))]
    label_mm: [f64; 2],
    /// The sheets of a PDF. `null`: each label is a page, as for rolls.
    #[serde(default, deserialize_with = "strict_json::option")]
    sheet: Option<Sheet>,
    /// The QR code.
    #[serde(default, deserialize_with = "strict_json::one")]
    #[schema(required = false)]
    qr: Qr,
    /// Lines of text, with macros about the tag, and `{{label:number}}`: the position on the roll of
    /// an encoding run, else the number of the label. An empty line takes no room.
    #[serde(default)]
    #[schema(required = false, max_items = 8, example = json!(["{{tag:name}}", "{{tag:attribute:sku}}"]))]
    text: Vec<String>,
    /// Resolution of PNG (default: 300) and ZPL (default: 203).
    #[serde(default)]
    dpi: Option<Dpi>,
    /// Print the labels although the address in their codes, the setting `tag_url`, is not proved.
    /// Otherwise the request fails with `address_not_proved`.
    #[serde(default)]
    allow_unproved_address: bool,
}

/// The tags that get labels.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = LabelSelection)]
pub(crate) enum Selection {
    /// Ids, and ranges of ids. Ids that do not exist or are deleted are skipped.
    Ids(Vec<Ids>),
    /// All tags that match at the start of the call.
    #[serde(deserialize_with = "strict_json::one")]
    Filter(Filter),
    /// The tags of the verified chips of an encoding run, in the order of their positions.
    RunId(EncodingRunId),
}

impl NewLabels {
    fn check(self) -> Result<LabelOrder, ApiError> {
        let select = match self.select {
            Selection::Ids(ids) => LabelSelect::Tags(TagSelect::Ranges {
                ranges: ids.into_iter().map(Ids::bounds).collect(),
                deleted: false,
            }),
            Selection::Filter(filter) => LabelSelect::Tags(TagSelect::Filter(filter.check()?)),
            Selection::RunId(id) => LabelSelect::Run(id),
        };
        if !self.label_mm.iter().all(|side| side.is_finite()) {
            let why = "label_mm has a width and a height in millimetres.";
            return Err(ApiError::Invalid(FieldError::of("label_mm", why)));
        }
        Ok(LabelOrder {
            select,
            design: Design {
                format: self.format,
                label_mm: self.label_mm,
                sheet: self.sheet,
                qr: self.qr,
                text: self.text,
                dpi: self.dpi,
            },
            allow_unproved_address: self.allow_unproved_address,
        })
    }
}

/// Print labels
///
/// Labels with the QR codes of tags, for any printer: a PDF of sheets or of one label per page, a
/// ZIP of PNG or SVG images, ZPL for label printers, or a CSV file for other programs. At most
/// 100,000 labels. More than 10,000 as PDF are a ZIP of numbered PDFs, each but the last one with
/// full sheets.
///
/// All codes can be read from print: a request for labels that are too small fails with the
/// smallest size. So does a text with a character that no font has. Texts that are too long for
/// their label are printed smaller, then cut. `Tapdesk-Total` is the number of labels. The audit log
/// records who printed which labels.
#[utoipa::path(
    post, path = "/labels", tag = "labels", request_body = NewLabels,
    responses(
        (
            status = OK,
            content(
                (inline(Binary) = "application/pdf"), (inline(Binary) = "application/zip"),
                (String = "application/vnd.zebra.zpl"), (String = "text/csv; charset=utf-8")
            ),
            headers(("Tapdesk-Total" = u64, description = "How many labels the file has"))
        ),
        Conflicting, BadBody, Written, Common
    )
)]
pub(crate) async fn create(
    Asked(service): Asked,
    Body(labels): Body<NewLabels>,
) -> Result<Response, ApiError> {
    let order = labels.check()?;
    let format = order.design.format;
    let file = labels::begin(service.clone(), order).await?;
    let (media_type, ending) = match format {
        _ if file.is_zip() => ("application/zip", "zip"),
        Format::Zpl => ("application/vnd.zebra.zpl", "zpl"),
        Format::Csv => ("text/csv; charset=utf-8", "csv"),
        Format::Pdf | Format::Png | Format::Svg => ("application/pdf", "pdf"),
    };
    let total = file.total();
    service
        .storage
        .asks(json!({"file": ending, "labels": total}));
    let body = export::body(move |sender| send(file, sender));
    let headers = [
        (CONTENT_TYPE, media_type.to_owned()),
        (
            CONTENT_DISPOSITION,
            format!("attachment; filename=\"labels.{ending}\""),
        ),
        (TOTAL, total.to_string()),
    ];
    Ok((headers, body).into_response())
}

/// Preview labels
///
/// The first label as SVG in its true size, and the number of labels and pages. Only the first
/// label is checked. An address that is not proved is a warning here.
#[utoipa::path(
    post, path = "/labels/preview", tag = "labels", request_body = NewLabels,
    responses((status = OK, body = LabelPreview), Conflicting, BadBody, Common)
)]
pub(crate) async fn preview(
    Asked(service): Asked,
    Body(labels): Body<NewLabels>,
) -> Result<Json<LabelPreview>, ApiError> {
    Ok(Json(labels::preview(&service, labels.check()?).await?))
}

/// Sends the file. An error breaks the answer off, so the client notices it. If the client
/// disconnects, the work stops.
async fn send(mut file: LabelFile, mut sender: Sender<Bytes, LabelError>) {
    loop {
        match file.next().await {
            Ok(Some(piece)) if piece.is_empty() => {}
            Ok(Some(piece)) => {
                if sender.send_data(piece.into()).await.is_err() {
                    return;
                }
            }
            Ok(None) => return,
            Err(error) => {
                tracing::warn!("labels ended early: {error}");
                return sender.abort(error);
            }
        }
    }
}
