//! Labels with QR codes, from a design and the tags' URLs and texts to a printable file. Nothing
//! here does input or output, except that fonts of the system are read if a text needs them.
//!
//! | Modules | Subject |
//! |---|---|
//! | `design` | the request: size, sheet, code and texts, and their checks |
//! | `sheet` | the places of labels on pages, in millimetres |
//! | `face` | the places of code and text on one label, and the smallest label for a code |
//! | `code` | the modules of a QR code as bars |
//! | `logo` | the picture in the middle of a code |
//! | `lettering` | lines of text in any script |
//! | `drawing` | one label, ready for every format |
//! | `printer` | the file with all labels, piece by piece |
//! | `pdf`, `svg`, `raster`, `zpl` | the formats |
//! | `report` | a PDF with a table and pictures, such as the result of a test sheet |
//! | `volumes`, `archive` | how labels are split into PDFs, and the ZIP of files |
//! | `png_file` | pixels as a PNG, also of other pictures than labels |

mod archive;
mod code;
mod design;
mod drawing;
mod face;
mod lettering;
mod logo;
mod pdf;
mod png_file;
mod print_error;
mod printer;
mod raster;
mod report;
mod sheet;
mod svg;
mod volumes;
mod zpl;

pub use code::{Code, CodeError, Level, modules_of};
pub use design::{Colour, Design, Dpi, Format, Label, Logo, Qr, Ready};
pub use lettering::Lettering;
pub use png_file::png_of;
pub use print_error::PrintError;
pub use printer::{Printer, Survey};
pub use report::{Column, Figure, Report};
pub use sheet::{PageSize, Place, Sheet};
