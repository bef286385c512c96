//! Accounts, keys, members, and who may do what.

mod claims;
mod keys;
mod login;
mod members;
mod permissions;
mod signup;
mod tokens;
