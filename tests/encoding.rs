//! Chips become inlays of tags, whatever is torn, killed, lost or swapped on the way.

mod backups;
mod bench;
mod bound;
mod delays;
mod http;
mod imported;
mod lrp;
mod order_reports;
mod orders;
mod pages;
mod places;
mod preview;
mod recovery;
mod resumed;
mod rights;
mod roots;
mod runs;
mod secrets;
mod tamper;
mod templates;
mod torn;
