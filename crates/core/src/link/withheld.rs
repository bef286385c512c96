//! Why a link that exists does not redirect: an administrator disabled it, or its target is on the block list.

use std::str::FromStr;

/// The most characters of the note beside the reason.
pub const MOST_NOTE: usize = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Abuse,
    Malware,
    /// It leads to a site that pretends to be another.
    Phishing,
    /// The law, or the rights of a third party.
    Legal,
    Other,
    /// The account it belongs to was disabled.
    Account,
    /// Its target is on the block list.
    Blocked,
}

impl Reason {
    pub const ALL: [Self; 7] = [
        Self::Abuse,
        Self::Malware,
        Self::Phishing,
        Self::Legal,
        Self::Other,
        Self::Account,
        Self::Blocked,
    ];

    /// Those that an administrator can choose.
    pub const CHOICES: [Self; 5] =
        [Self::Abuse, Self::Malware, Self::Phishing, Self::Legal, Self::Other];

    /// The name on the wire and in the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Abuse => "abuse",
            Self::Malware => "malware",
            Self::Phishing => "phishing",
            Self::Legal => "legal",
            Self::Other => "other",
            Self::Account => "account",
            Self::Blocked => "blocked",
        }
    }
}

impl FromStr for Reason {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == text).ok_or(())
    }
}
