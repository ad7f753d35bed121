//! Exports as a table: CSV, or a workbook with the same cells.

use std::convert::Infallible;

use axum::body::Bytes;
use axum::response::{IntoResponse as _, Response};
use http_body_util::channel::Sender;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::{Format, table_body};

/// File format of a table.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TableFormat {
    /// CSV (RFC 4180), safe to open in a spreadsheet.
    #[default]
    Csv,
    /// A workbook of Excel with the cells of the CSV file, all as text.
    Xlsx,
}

impl From<TableFormat> for Format {
    fn from(format: TableFormat) -> Self {
        match format {
            TableFormat::Csv => Self::Csv,
            TableFormat::Xlsx => Self::Xlsx,
        }
    }
}

/// Format of an exported table.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TableOptions {
    /// `csv` or `xlsx`.
    #[param(inline, required = false)]
    format: TableFormat,
}

impl TableOptions {
    /// Name of the parameter.
    pub(in crate::admin) const FORMAT: &'static str = "format";

    /// Whether this is the name of a parameter of the file, and not of a filter.
    pub(in crate::admin) fn has(name: &str) -> bool {
        name == Self::FORMAT
    }

    /// The format that is asked for.
    pub(in crate::admin) fn format(&self) -> Format {
        self.format.into()
    }

    /// The response with the complete rows of a CSV file. `sheet` is the name of a workbook's sheet,
    /// and `name` that of the file, without its extension.
    pub(in crate::admin) fn answer(
        &self,
        sheet: &'static str,
        name: &str,
        rows: Vec<u8>,
    ) -> Response {
        let format = self.format();
        let rows = Bytes::from(rows);
        let send = move |mut sender: Sender<Bytes, Infallible>| async move {
            // The client may be gone; then there is nothing more to do.
            let _ = sender.send_data(rows).await;
        };
        let headers = format.file_headers(name);
        (headers, table_body(format, sheet, send)).into_response()
    }
}
