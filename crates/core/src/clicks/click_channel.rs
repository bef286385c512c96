//! How a visitor came to a link.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// Without a referrer.
    Direct,
    Search,
    Social,
    Ai,
    Messenger,
    Email,
    Video,
    Paid,
    Referral,
    Qr,
    /// From a page of this server.
    Internal,
}

impl Channel {
    pub const ALL: [Self; 11] = [
        Self::Direct,
        Self::Search,
        Self::Social,
        Self::Ai,
        Self::Messenger,
        Self::Email,
        Self::Video,
        Self::Paid,
        Self::Referral,
        Self::Qr,
        Self::Internal,
    ];

    /// Its value in [`crate::analytics::TextColumn::Channel`].
    pub const fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Search => "search",
            Self::Social => "social",
            Self::Ai => "ai",
            Self::Messenger => "messenger",
            Self::Email => "email",
            Self::Video => "video",
            Self::Paid => "paid",
            Self::Referral => "referral",
            Self::Qr => "qr",
            Self::Internal => "internal",
        }
    }
}
