//! The design of labels, as a request has it, and its checks.

mod ready;

use serde::Deserialize;
use utoipa::ToSchema;

use crate::code::Level;
use crate::face::{self, SIDE_MAX_MM, TEXT_MIN_MM};
use crate::logo::Picture;
use crate::sheet::Sheet;
use domain::field_error::FieldError;
use domain::macros::{Template, check_of_label};
use domain::strict_json;
pub(crate) use ready::too_long;
pub use ready::{Label, Ready};

/// Shortest side of a label, in millimetres. The shortest code needs more.
const SIDE_MIN_MM: f64 = 5.0;
/// Most lines of text on a label.
pub(crate) const LINES_MAX: usize = 8;
/// Longest line of text with its macros, in characters.
const TEXT_MAX: usize = 500;
/// Lowest contrast of a code with white paper, as WCAG defines it: decoders need about 3.
const CONTRAST_MIN: f64 = 4.5;
/// Most labels in one PDF: about 5 kB each until it is complete.
pub(crate) const PDF_LABELS_MAX: u64 = 10_000;
/// Most dots of a label, so that one takes at most 40 MB: 100 x 150 mm at 600 dpi has 8 million.
const DOTS_MAX: f64 = 10_000_000.0;

/// File format of labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = LabelFormat)]
pub enum Format {
    /// PDF: a page for each label, or sheets.
    Pdf,
    /// A ZIP of PNG images, one for each label.
    Png,
    /// A ZIP of SVG images, one for each label.
    Svg,
    /// ZPL II, for label printers: one graphic field for each label.
    Zpl,
    /// CSV: the slug, URL and texts of each label, for other programs.
    Csv,
}

/// The look of labels as a request asks for it; [`Ready`](crate::Ready) is checked.
#[derive(Clone, Debug)]
pub struct Design {
    /// The format of the file with all labels.
    pub format: Format,
    /// Width and height of a label, in millimetres.
    pub label_mm: [f64; 2],
    /// The sheets of a PDF; `None` for a page of each label.
    pub sheet: Option<Sheet>,
    /// Colours, error level and logo of the QR code.
    pub qr: Qr,
    /// Lines of text, with macros.
    pub text: Vec<String>,
    /// Resolution of PNG and ZPL.
    pub dpi: Option<Dpi>,
}

/// The QR code of labels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = LabelCode)]
pub struct Qr {
    /// Error level. Default: `M`; `H` with a logo, which needs `Q` or `H`.
    #[serde(default)]
    pub level: Option<Level>,
    /// Colour of the code and the text, on white. Light colours are refused.
    #[serde(default)]
    #[schema(required = false)]
    pub colour: Colour,
    /// Writes the URL in capitals, which makes the code smaller. Only for an address that ends with
    /// `/t` right after its host, and for slugs that lead to their tag in capitals.
    #[serde(default)]
    #[schema(required = false)]
    pub capitals: bool,
    /// A picture in the middle of the code.
    #[serde(default, deserialize_with = "strict_json::option")]
    pub logo: Option<Logo>,
}

/// A picture in the middle of a code. It takes at most 5 % of the code.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = LabelLogo)]
pub struct Logo {
    /// PNG, JPEG, WebP or GIF in base64, at most 40 million pixels. It may be a `data:` URL.
    pub image: String,
}

/// A colour as `#rrggbb`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(as = LabelColour, value_type = String, pattern = "^#[0-9A-Fa-f]{6}$", default = "#000000")]
pub struct Colour(pub String);

impl Default for Colour {
    fn default() -> Self {
        Self("#000000".to_owned())
    }
}

/// Resolution in dots per inch: 203, 300 or 600.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(as = LabelDpi, value_type = u32, minimum = 203, maximum = 600)]
pub struct Dpi(pub u32);

impl Dpi {
    /// Dots per millimetre. Printers of "203 dpi" have eight.
    fn dots_per_mm(self) -> Option<f64> {
        match self.0 {
            203 => Some(8.0),
            300 => Some(300.0 / 25.4),
            600 => Some(600.0 / 25.4),
            _ => None,
        }
    }
}

impl Colour {
    /// Red, green and blue.
    pub(crate) fn rgb(&self) -> Option<[u8; 3]> {
        let digits = self.0.strip_prefix('#').filter(|digits| {
            digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
        })?;
        let part = |at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
        Some([part(0)?, part(2)?, part(4)?])
    }
}

/// Contrast of a colour with white (WCAG 2.2, "contrast ratio").
fn contrast(rgb: [u8; 3]) -> f64 {
    let linear = rgb.map(|part| {
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 {
            part / 12.92
        } else {
            ((part + 0.055) / 1.055).powf(2.4)
        }
    });
    1.05 / (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)
}

impl Design {
    /// Checks the design, and decodes its logo on this thread.
    pub fn ready(&self) -> Result<Ready, FieldError> {
        let drawn = self.format != Format::Csv;
        if drawn {
            self.check_size()?;
        }
        let dots_per_mm = self.dots_per_mm()?;
        if let Some(sheet) = &self.sheet {
            if self.format != Format::Pdf {
                let why = "Only a PDF has sheets. Leave sheet out, or use the format pdf.";
                return Err(FieldError::of("sheet", why));
            }
            sheet.check(self.label_mm)?;
        }
        let colour = self.colour()?;
        let level = self.level()?;
        let logo = match &self.qr.logo {
            Some(logo) if drawn => Some(Picture::decode(&logo.image)?),
            _ => None,
        };
        Ok(Ready {
            format: self.format,
            label_mm: self.label_mm,
            sheet: self.sheet,
            level,
            colour,
            logo,
            texts: self.templates()?,
            dots_per_mm,
            pdf_labels_max: PDF_LABELS_MAX,
        })
    }

    fn check_size(&self) -> Result<(), FieldError> {
        let sides = self.label_mm;
        if sides
            .iter()
            .all(|side| (SIDE_MIN_MM..=SIDE_MAX_MM).contains(side))
        {
            return Ok(());
        }
        let smallest = face::smallest(sides, self.text.len(), 21, None);
        let smallest = smallest.map_or_else(String::new, |[w, h]| {
            format!(" The smallest label with any code has about {w} x {h} mm.")
        });
        let why = format!(
            "A label is {SIDE_MIN_MM} to {SIDE_MAX_MM} mm wide and high: {} x {} mm cannot be printed.{smallest}",
            sides[0], sides[1]
        );
        Err(FieldError::of("label_mm", why))
    }

    /// Dots per millimetre of PNG and ZPL; `None` for other formats.
    fn dots_per_mm(&self) -> Result<Option<f64>, FieldError> {
        let default = match self.format {
            Format::Png => 300,
            Format::Zpl => 203,
            _ if self.dpi.is_some() => {
                let why = "Only png and zpl have dots. Leave dpi out.";
                return Err(FieldError::of("dpi", why));
            }
            _ => return Ok(None),
        };
        let dpi = self.dpi.unwrap_or(Dpi(default));
        let why = "dpi is 203, 300 or 600.";
        let dots = dpi.dots_per_mm().ok_or(FieldError::of("dpi", why))?;
        let all = self.label_mm[0] * self.label_mm[1] * dots * dots;
        if all > DOTS_MAX {
            let why = format!(
                "This label has {:.0} million dots, and a label can have {:.0} million. Use fewer dpi, \
                 or the format pdf or svg.",
                all / 1e6,
                DOTS_MAX / 1e6
            );
            return Err(FieldError::of("dpi", why));
        }
        Ok(Some(dots))
    }

    fn colour(&self) -> Result<[u8; 3], FieldError> {
        let refused = |why: String| FieldError::of("qr.colour", why);
        let rgb = self.qr.colour.rgb();
        let rgb = rgb.ok_or_else(|| refused("A colour is written as #rrggbb.".to_owned()))?;
        if self.format == Format::Zpl && rgb != [0; 3] {
            let why = "Label printers print black. Leave the colour out, or use another format.";
            return Err(refused(why.to_owned()));
        }
        let contrast = contrast(rgb);
        if contrast < CONTRAST_MIN {
            return Err(refused(format!(
                "{} is too light on white to be read: its contrast is {contrast:.1}, and codes need \
                 {CONTRAST_MIN}. Use a darker colour.",
                self.qr.colour.0
            )));
        }
        Ok(rgb)
    }

    fn level(&self) -> Result<Level, FieldError> {
        match (self.qr.level, &self.qr.logo) {
            (Some(Level::L | Level::M), Some(_)) => {
                let why = "A logo covers a part of the code. Use the error level Q or H with it.";
                Err(FieldError::of("qr.level", why))
            }
            (Some(level), _) => Ok(level),
            (None, Some(_)) => Ok(Level::H),
            (None, None) => Ok(Level::M),
        }
    }

    fn templates(&self) -> Result<Vec<Template>, FieldError> {
        if self.text.len() > LINES_MAX {
            let why = format!("A label has at most {LINES_MAX} lines of text.");
            return Err(FieldError::of("text", why));
        }
        let checked = self.text.iter().enumerate().map(|(number, text)| {
            let refused = |why: String| FieldError::of(format!("text[{number}]"), why);
            if text.chars().count() > TEXT_MAX {
                return Err(refused(format!(
                    "A line has at most {TEXT_MAX} characters."
                )));
            }
            check_of_label(text).map_err(|error| refused(error.to_string()))?;
            Ok(Template::parse(text))
        });
        checked.collect()
    }
}

/// The sentence that refuses labels whose code cannot be read.
pub(crate) fn too_small(ready: &Ready, modules: u32) -> FieldError {
    let [w, h] = ready.label_mm;
    let smallest = face::smallest(ready.label_mm, ready.texts.len(), modules, ready.dot_mm());
    let way_out = match smallest {
        Some([w, h]) => format!("The smallest label of this shape is {w} x {h} mm."),
        None => "No label has room for it.".to_owned(),
    };
    let shorter = if ready.texts.is_empty() {
        "A lower error level, capitals or a shorter address make the code smaller."
    } else {
        "Fewer lines of text, a lower error level, capitals or a shorter address need less room."
    };
    let lines = match ready.texts.len() {
        0 => String::new(),
        1 => " and a line of text".to_owned(),
        lines => format!(" and {lines} lines of text of {TEXT_MIN_MM} mm"),
    };
    FieldError::of(
        "label_mm",
        format!(
            "A label of {w} x {h} mm is too small for a code of {modules} x {modules} modules{lines}: \
             it could not be read. {way_out} {shorter}"
        ),
    )
}
