//! The reader: virtual chips held to what is published of them, and the product
//! that reads them through the real PC/SC service.

mod attacks;
mod chips;
mod insertions;
mod liars;
mod other_implementation;
mod published;
mod readings;
mod scripted;
mod table;
