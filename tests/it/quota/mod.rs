//! The monthly limit of a link: exact on one instance and on several.

mod monthly_limit;
mod shared;
mod under_load;
