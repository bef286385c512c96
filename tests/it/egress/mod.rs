//! Requests that the server makes to addresses that users name.

mod check;
