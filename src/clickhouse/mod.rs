//! ClickHouse: a copy of the blocks of events, and questions about it. The only module that knows its HTTP
//! interface, its SQL and its formats.
//!
//! Invariants: no call takes longer than its timeout. Texts are in statements as hexadecimal digits only, so none
//! can be read as SQL. Statements are those that servers from 18.16 on understand.

mod counted_range;
mod http_client;
mod question;
mod row_binary;
mod statements;

pub use counted_range::{DayQuestion, VerifiedDay};
pub use http_client::{ClickHouse, ClickHouseError};
pub use row_binary::EventRows;
pub use statements::{CopiedBlock, CopiedDay};
