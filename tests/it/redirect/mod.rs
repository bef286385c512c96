//! What a visitor of a short address gets, on both databases.

mod addresses;
mod answers;
mod click_details;
mod expiry;
mod hostile_fields;
mod plan_settings;
mod plans;
