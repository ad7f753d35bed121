//! The specification from outside: each row of its tables a test, named after it.

mod section_4_endpoints;
