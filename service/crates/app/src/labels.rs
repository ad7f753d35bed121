//! Labels with QR codes: which tags they are for, what is on them, and the file of them.
//!
//! All labels are looked at before the first piece is sent. A request that asks for a code that
//! cannot be read, or a character that no font has, is refused as a whole.

mod bench;
mod content;
mod file;
mod preview;
mod selected;

use std::sync::Arc;

use crate::prove_address;
use crate::service::Service;
use content::Content;
use domain::field_error::FieldError;
use domain::id::EncodingRunId;
use label::{Design, Lettering, PrintError, Survey};
use selected::Selected;
use storage::{StorageError, TagSelect};

pub use file::LabelFile;
pub use preview::{LabelPreview, preview};

/// Most labels of one request. Their ids are in memory.
pub const LABELS_MAX: usize = 100_000;
/// Number of tags per database read.
const AT_ONCE: usize = 500;

/// The labels that a request asks for.
#[derive(Clone, Debug)]
pub struct LabelOrder {
    /// The tags that get labels, in this order.
    pub select: LabelSelect,
    /// How the labels look.
    pub design: Design,
    /// Allows an address that is not proved; a person confirmed this.
    pub allow_unproved_address: bool,
}

/// The tags that get labels.
#[derive(Clone, Debug)]
pub enum LabelSelect {
    /// Tags, in the order of their ids.
    Tags(TagSelect),
    /// The tags of the verified chips of an encoding run, in the order of their positions.
    Run(EncodingRunId),
}

/// Why labels are not printed.
#[derive(Debug, thiserror::Error)]
pub enum LabelError {
    /// The request asks for labels that cannot be.
    #[error(transparent)]
    Invalid(#[from] FieldError),
    /// The address in the codes is not proved; contains the reason, in words.
    #[error("{0}")]
    AddressNotProved(String),
    /// A read or a write of the database failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// An internal failure, for the log.
    #[error("{0}")]
    Failed(String),
}

impl From<PrintError> for LabelError {
    fn from(error: PrintError) -> Self {
        match error {
            PrintError::Refused(why) => Self::Invalid(why),
            PrintError::Failed(why) => Self::Failed(why),
        }
    }
}

/// Checks all labels, and begins their file.
///
/// # Errors
///
/// [`LabelError::Invalid`] if one of the labels cannot be printed or read, and
/// [`LabelError::AddressNotProved`].
pub async fn begin(service: Arc<Service>, order: LabelOrder) -> Result<LabelFile, LabelError> {
    let LabelOrder {
        select,
        design,
        allow_unproved_address,
    } = order;
    let content = Content::new(&service, &design)?;
    let ready = on_thread(move || design.ready()).await??;
    if !allow_unproved_address && let Some(why) = prove_address::why_not_proved(&service).await? {
        return Err(LabelError::AddressNotProved(format!(
            "{why} Printed codes contain this address: check it first, or send \
             \"allow_unproved_address\": true."
        )));
    }
    let selected = Selected::find(&service, select).await?;
    let labels = selected.len();
    if labels > LABELS_MAX {
        let why = format!(
            "{labels} tags are selected, and one request has at most {LABELS_MAX} labels. Select \
             fewer tags at once."
        );
        return Err(FieldError::of("select", why).into());
    }
    if labels == 0 {
        let why = "No tag is selected, so there is nothing to print.";
        return Err(FieldError::of("select", why).into());
    }
    let mut looked = (Survey::default(), Lettering::default(), ready);
    for chunk in selected.chunks(AT_ONCE) {
        let labels = content.labels(&service, chunk, &looked.2).await?;
        let look = move || {
            for label in &labels {
                looked.0.add(&looked.2, &mut looked.1, label)?;
            }
            Ok::<_, FieldError>(looked)
        };
        looked = on_thread(look).await??;
    }
    let (survey, lettering, ready) = looked;
    survey.check(&ready)?;
    Ok(LabelFile::new(service, content, selected, ready, lettering))
}

/// Runs work that takes long on a thread for it.
async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, LabelError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| LabelError::Failed(error.to_string()))
}
