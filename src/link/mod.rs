//! What a link is, whose it is and how it lives. Pure: no I/O, no SQL, no HTTP types; time comes in as a
//! parameter.

pub mod address_key;
pub mod blocklist;
pub mod change;
pub mod decision;
pub mod field_text;
pub mod fields;
pub mod hour;
pub mod id;
pub mod idn;
pub mod latency;
pub mod location;
pub mod month;
pub mod own;
pub mod qr;
pub mod record;
pub mod strategy;
pub mod tally;
pub mod target;
pub mod withheld;

pub use address_key::AddressKey;
pub use blocklist::Blocklist;
pub use change::Change;
pub use decision::{Decision, Fate};
pub use fields::{LinkFieldChanges, LinkFields};
pub use hour::Hour;
pub use id::LinkId;
pub use latency::Latency;
pub use month::Month;
pub use own::Own;
pub use record::{Disabled, Link, Made, Status};
pub use strategy::Strategy;
pub use tally::Tally;
pub use withheld::Reason;
