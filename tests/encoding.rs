//! Chips become inlays of tags, even if they are removed, killed, lost or swapped on the way.

mod backups;
mod bench;
mod bound;
mod by_page;
mod delays;
mod foreign_message;
mod http;
mod imported;
mod look_alikes;
mod lrp;
mod order_reports;
mod orders;
mod other_apps;
mod pages;
mod places;
mod preview;
mod recovery;
mod resumed;
mod rights;
mod roots;
mod runs;
mod secrets;
mod settings_left;
mod tamper;
mod templates;
mod torn;
