//! Chips in software, compared with published vectors and another implementation, and properties of
//! every code.

mod diagnose;
mod differential;
mod ev2;
mod properties;
mod published;
mod second;
mod solver;
mod taps;
mod templates;
mod vectors;
