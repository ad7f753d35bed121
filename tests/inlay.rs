//! Chips in software against published vectors, another implementation, and
//! what must hold for every code.

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
