//! Accounts, keys, members, and who may do what.

mod claims;
mod deletion;
mod invitations;
mod keys;
mod login;
mod members;
mod passwords;
mod permissions;
mod signup;
mod tokens;
