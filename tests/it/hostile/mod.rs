//! Input that means harm, sent to a running kurz: targets, credentials, fields that are nobody's to set,
//! and what of all that ends up in the log. Where a browser has to look at the result it is in `web`.

mod bodies;
mod logs;
mod urls;
