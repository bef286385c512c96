//! Links: their fields and lifecycle, which targets are allowed, the block list, QR codes.

pub mod address_key;
pub mod blocklist;
pub mod change;
pub mod field_text;
pub mod fields;
pub mod hour;
pub mod id;
pub mod idn;
pub mod latency;
pub mod lifecycle;
pub mod location;
pub mod month;
pub mod own_addresses;
pub mod qr;
pub mod record;
pub mod strategy;
pub mod target;
pub mod withheld;

pub use address_key::AddressKey;
pub use blocklist::Blocklist;
pub use change::Change;
pub use fields::{ArchivedAt, LinkFieldChanges, LinkFields};
pub use hour::Hour;
pub use id::LinkId;
pub use latency::Latency;
pub use lifecycle::{Decision, Validity};
pub use month::Month;
pub use own_addresses::OwnAddresses;
pub use record::{Disabled, Link, LinkOrigin, Status, StoredPlan};
pub use strategy::Strategy;
pub use withheld::Reason;
