//! Chips become inlays of tags, whatever is torn, killed, lost or swapped on the way.

mod bench;
mod http;
mod pages;
mod recovery;
mod runs;
mod torn;
