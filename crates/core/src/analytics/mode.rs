//! How much is kept about the clicks on a link.

/// From the narrowest to the widest: the mode in force is the least of the server's, the workspace's and the
/// link's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AnalyticsMode {
    /// Counts by hour and day only.
    Off,
    /// Events without what is rarely shared by many visitors, for two days; then sums by day.
    Aggregate,
    /// Events, for as long as the settings say; then sums by day.
    Events,
}

impl AnalyticsMode {
    pub const ALL: [Self; 3] = [Self::Off, Self::Aggregate, Self::Events];

    /// Its name in settings, in the API and in the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Aggregate => "aggregate",
            Self::Events => "events",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_read_by_their_names_and_ordered_from_narrow_to_wide() {
        for mode in AnalyticsMode::ALL {
            assert_eq!(AnalyticsMode::parse(mode.as_str()), Some(mode));
        }
        assert_eq!(AnalyticsMode::parse("Events"), None);
        assert!(AnalyticsMode::Off < AnalyticsMode::Aggregate);
        assert_eq!(AnalyticsMode::Events.min(AnalyticsMode::Aggregate), AnalyticsMode::Aggregate);
    }
}
