//! The reader: virtual chips compared with published data, and the product that reads them through
//! the real PC/SC service.

mod attacks;
mod both_ways;
mod chip_rules;
mod chips;
mod encoding_sheets;
mod identity;
mod insertions;
mod liars;
mod matrix;
mod other_implementation;
mod pages;
mod profiles;
mod published;
mod readings;
mod relay;
mod scripted;
mod table;
mod transcripts;
mod whole_chip;
