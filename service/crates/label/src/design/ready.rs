//! A checked design, and the content of a label.

use super::Format;
use crate::code::{self, CodeError, Level};
use crate::face;
use crate::logo::Picture;
use crate::sheet::Sheet;
use domain::field_error::FieldError;
use domain::macros::Template;

/// A design with checked values and a decoded logo.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The format of the file with all labels.
    pub format: Format,
    /// The lines of text of each label, with macros.
    pub texts: Vec<Template>,
    /// How much of the code may be hidden before it cannot be read.
    pub level: Level,
    pub(crate) label_mm: [f64; 2],
    pub(crate) sheet: Option<Sheet>,
    pub(crate) colour: [u8; 3],
    pub(crate) logo: Option<Picture>,
    pub(crate) dots_per_mm: Option<f64>,
    /// Most labels in one PDF.
    pub(crate) pdf_labels_max: u64,
}

/// The content of a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Slug of the tag; the name of its file.
    pub slug: String,
    /// Content of the code.
    pub url: String,
    /// The lines of text, with the values of the tag.
    pub texts: Vec<String>,
}

pub(crate) fn too_long(error: CodeError) -> FieldError {
    FieldError::of("select", error.to_string())
}

impl Ready {
    /// Side of a printer's dot, in millimetres; `None` if the format has none.
    pub(crate) fn dot_mm(&self) -> Option<f64> {
        self.dots_per_mm.map(|dots| 1.0 / dots)
    }

    /// Number of pages of that many labels.
    pub fn pages(&self, labels: u64) -> u64 {
        labels
            .checked_sub(1)
            .map_or(0, |last| self.page_of(last) + 1)
    }

    /// Side of a module of a label's code, in millimetres; `None` if the label is too small.
    pub fn module_mm(&self, label: &Label) -> Option<f64> {
        let modules = self.modules(label).ok()?;
        let face = face::face(self.label_mm, self.texts.len(), modules, self.dot_mm());
        face.map(|face| face.module_mm)
    }

    /// Number of modules on a side of a label's code.
    pub(crate) fn modules(&self, label: &Label) -> Result<u32, FieldError> {
        code::modules_of(&label.url, self.level).map_err(too_long)
    }
}
