//! What is known of a click, by name.

/// A property that clicks are grouped and filtered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dimension {
    Link,
    /// The tags that a link has when it is asked for.
    Tag,
    Text(TextColumn),
}

/// A property that is stored as a text, in a column of its own. The numbers are stored: none is used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum TextColumn {
    Host = 0,
    Class = 1,
    Bot = 2,
    Referrer = 3,
    Channel = 4,
    Browser = 5,
    BrowserVersion = 6,
    Os = 7,
    OsVersion = 8,
    Device = 9,
    /// The app whose built-in browser was used.
    App = 10,
    Language = 11,
    Country = 12,
    Region = 13,
    City = 14,
    UtmSource = 15,
    UtmMedium = 16,
    UtmCampaign = 17,
    UtmTerm = 18,
    UtmContent = 19,
    Ref = 20,
    Trigger = 21,
    Variant = 22,
    Rule = 23,
    Answer = 24,
}

impl TextColumn {
    pub const ALL: [Self; 25] = [
        Self::Host,
        Self::Class,
        Self::Bot,
        Self::Referrer,
        Self::Channel,
        Self::Browser,
        Self::BrowserVersion,
        Self::Os,
        Self::OsVersion,
        Self::Device,
        Self::App,
        Self::Language,
        Self::Country,
        Self::Region,
        Self::City,
        Self::UtmSource,
        Self::UtmMedium,
        Self::UtmCampaign,
        Self::UtmTerm,
        Self::UtmContent,
        Self::Ref,
        Self::Trigger,
        Self::Variant,
        Self::Rule,
        Self::Answer,
    ];

    /// Its name in the API, in addresses and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Class => "class",
            Self::Bot => "bot",
            Self::Referrer => "referrer",
            Self::Channel => "channel",
            Self::Browser => "browser",
            Self::BrowserVersion => "browser_version",
            Self::Os => "os",
            Self::OsVersion => "os_version",
            Self::Device => "device",
            Self::App => "app",
            Self::Language => "language",
            Self::Country => "country",
            Self::Region => "region",
            Self::City => "city",
            Self::UtmSource => "utm_source",
            Self::UtmMedium => "utm_medium",
            Self::UtmCampaign => "utm_campaign",
            Self::UtmTerm => "utm_term",
            Self::UtmContent => "utm_content",
            Self::Ref => "ref",
            Self::Trigger => "trigger",
            Self::Variant => "variant",
            Self::Rule => "rule",
            Self::Answer => "answer",
        }
    }

    /// Whether it may be kept in the mode `aggregate`.
    pub const fn is_kept_aggregated(self) -> bool {
        !matches!(
            self,
            Self::BrowserVersion
                | Self::OsVersion
                | Self::Region
                | Self::City
                | Self::UtmTerm
                | Self::UtmContent
                | Self::Ref
        )
    }
}

impl Dimension {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Tag => "tag",
            Self::Text(column) => column.name(),
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "link" => Some(Self::Link),
            "tag" => Some(Self::Tag),
            _ => TextColumn::ALL.into_iter().find(|it| it.name() == name).map(Self::Text),
        }
    }
}

/// Who made a request. Its name is the value of [`TextColumn::Class`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    Person,
    Bot,
    /// Fetches a link to show a preview of it.
    Preview,
    Head,
    Prefetch,
    /// From a network that the operator excluded, or by a request that asks not to be tracked.
    Excluded,
}

impl Class {
    pub const ALL: [Self; 6] =
        [Self::Person, Self::Bot, Self::Preview, Self::Head, Self::Prefetch, Self::Excluded];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Bot => "bot",
            Self::Preview => "preview",
            Self::Head => "head",
            Self::Prefetch => "prefetch",
            Self::Excluded => "excluded",
        }
    }
}
