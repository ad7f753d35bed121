//! Chips become inlays of tags, whatever is torn, killed, lost or swapped on the way.

mod bench;
mod http;
mod imported;
mod lrp;
mod order_reports;
mod orders;
mod pages;
mod preview;
mod recovery;
mod rights;
mod roots;
mod runs;
mod tamper;
mod templates;
mod torn;
