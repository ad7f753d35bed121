//! The first label, and the facts of all.

use serde::Serialize;
use utoipa::ToSchema;

use super::content::Content;
use super::selected::Selected;
use super::{LabelError, LabelOrder, on_thread};
use crate::prove_address;
use crate::service::Service;
use domain::field_error::FieldError;
use label::{Label, Lettering, Printer, Ready, Survey};

/// The first label, and the facts of all.
#[derive(Debug, Serialize, ToSchema)]
pub struct LabelPreview {
    /// How many labels the selection has.
    labels: usize,
    /// Number of pages; for ZIP files, of images.
    pages: u64,
    /// Number of PDFs. More than one come as a ZIP. 1 for other formats.
    files: u64,
    /// The URL in the first code.
    url: Option<String>,
    /// The first label as SVG, in its true size; null if there is none.
    svg: Option<String>,
    /// Side of a module of the first code, in millimetres.
    module_mm: Option<f64>,
    /// Sentences about labels that may not be read.
    warnings: Vec<String>,
}

/// Shows the first of the labels. Only that label is checked.
///
/// # Errors
///
/// Those of [`begin`](super::begin), except that an address that is not proved is a warning.
pub async fn preview(service: &Service, order: LabelOrder) -> Result<LabelPreview, LabelError> {
    let LabelOrder { select, design, .. } = order;
    let content = Content::new(service, &design)?;
    let ready = on_thread(move || design.ready()).await??;
    let selected = Selected::find(service, select).await?;
    let mut warnings = Vec::new();
    if let Some(why) = prove_address::why_not_proved(service).await? {
        warnings.push(why);
    }
    let first = content.labels(service, selected.piece(0, 1), &ready);
    let first = first.await?.pop();
    let labels = selected.len();
    let counted = u64::try_from(labels).unwrap_or(u64::MAX);
    let (pages, files) = (ready.pages(counted), ready.files(counted));
    let (url, module_mm) = match &first {
        Some(label) => (Some(label.url.clone()), ready.module_mm(label)),
        None => (None, None),
    };
    let svg = match first {
        Some(label) => Some(on_thread(move || drawn(&ready, &label)).await??),
        None => None,
    };
    Ok(LabelPreview {
        labels,
        pages,
        files,
        url,
        svg,
        module_mm,
        warnings,
    })
}

fn drawn(ready: &Ready, label: &Label) -> Result<String, FieldError> {
    let (mut survey, mut lettering) = (Survey::default(), Lettering::default());
    survey.add(ready, &mut lettering, label)?;
    survey.check(ready)?;
    Printer::svg(ready, &mut lettering, label)
}
