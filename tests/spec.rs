//! The specification, tested from outside: each row of its tables has a test with its name.

mod section_1_service;
mod section_2_1_rolling_key;
mod section_2_2_payload;
mod section_2_3_metadata;
mod section_2_4_location;
mod section_2_5_update_record;
mod section_3_states;
mod section_4_1_payload_call;
mod section_4_2_update_call;
mod section_5_authentication;
mod section_7_errors;
mod section_8_limits;
mod section_9_versioning;
mod shape;
