//! Clicks by value of one dimension, in the order of the values, so that the sums of blocks and days are merged
//! in one pass.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::link::LinkId;

/// Clicks by text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueCounts {
    /// All texts, one after the other.
    texts: String,
    /// Where each text ends.
    ends: Vec<usize>,
    clicks: Vec<u64>,
}

impl ValueCounts {
    pub fn len(&self) -> usize {
        self.clicks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.clicks.is_empty()
    }

    /// In the order of the texts.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        let starts = std::iter::once(&0).chain(&self.ends);
        let text =
            |(start, end): (&usize, &usize)| self.texts.get(*start..*end).unwrap_or_default();
        starts.zip(&self.ends).map(text).zip(self.clicks.iter().copied())
    }

    pub fn total(&self) -> u64 {
        self.clicks.iter().sum()
    }

    pub fn get(&self, text: &str) -> u64 {
        let text_at = |place: usize| {
            let start = place.checked_sub(1).and_then(|before| self.ends.get(before));
            let end = self.ends.get(place).copied().unwrap_or(0);
            self.texts.get(start.copied().unwrap_or(0)..end).unwrap_or_default()
        };
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            match text_at(middle).cmp(text) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return self.clicks.get(middle).copied().unwrap_or(0),
            }
        }
        0
    }

    fn push(&mut self, text: &str, clicks: u64) {
        self.texts.push_str(text);
        self.ends.push(self.texts.len());
        self.clicks.push(clicks);
    }

    /// Add counts that are in the order of their texts, without a text twice. Those of 0 clicks are left out.
    pub fn merge<'a>(&mut self, other: impl Iterator<Item = (&'a str, u64)>) {
        let mut merged = Self {
            texts: String::with_capacity(self.texts.len()),
            ends: Vec::with_capacity(self.len()),
            clicks: Vec::with_capacity(self.len()),
        };
        let mut ours = self.iter().peekable();
        for (text, clicks) in other.filter(|(_, clicks)| *clicks > 0) {
            while let Some((our, count)) = ours.next_if(|(our, _)| *our < text) {
                merged.push(our, count);
            }
            let count = ours.next_if(|(our, _)| *our == text).map_or(0, |(_, count)| count);
            merged.push(text, count.saturating_add(clicks));
        }
        for (our, count) in ours {
            merged.push(our, count);
        }
        *self = merged;
    }

    /// The bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.texts.capacity() + (self.ends.capacity() + self.clicks.capacity()) * size_of::<u64>()
    }
}

impl<'a> FromIterator<(&'a str, u64)> for ValueCounts {
    /// In any order, with texts that repeat.
    fn from_iter<I: IntoIterator<Item = (&'a str, u64)>>(values: I) -> Self {
        let mut sorted: BTreeMap<&str, u64> = BTreeMap::new();
        for (text, clicks) in values {
            let sum = sorted.entry(text).or_default();
            *sum = sum.saturating_add(clicks);
        }
        let mut counts = Self::default();
        counts.merge(sorted.into_iter());
        counts
    }
}

/// Clicks by link, in the order of the links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts(Vec<(LinkId, u64)>);

impl LinkCounts {
    pub fn iter(&self) -> impl Iterator<Item = (LinkId, u64)> {
        self.0.iter().copied()
    }

    pub fn total(&self) -> u64 {
        self.0.iter().map(|(_, clicks)| clicks).sum()
    }

    pub fn get(&self, link: LinkId) -> u64 {
        let found = self.0.binary_search_by_key(&link, |(link, _)| *link).ok();
        found.and_then(|place| self.0.get(place)).map_or(0, |(_, clicks)| *clicks)
    }

    /// Add counts that are in the order of their links.
    pub fn merge(&mut self, other: impl Iterator<Item = (LinkId, u64)>) {
        let mut merged = Vec::with_capacity(self.0.len());
        let mut ours = self.0.iter().copied().peekable();
        for (link, clicks) in other.filter(|(_, clicks)| *clicks > 0) {
            while let Some(our) = ours.next_if(|(our, _)| *our < link) {
                merged.push(our);
            }
            let count = ours.next_if(|(our, _)| *our == link).map_or(0, |(_, count)| count);
            merged.push((link, count.saturating_add(clicks)));
        }
        merged.extend(ours);
        self.0 = merged;
    }

    /// The bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<(LinkId, u64)>()
    }
}

impl FromIterator<(LinkId, u64)> for LinkCounts {
    /// In any order, with links that repeat.
    fn from_iter<I: IntoIterator<Item = (LinkId, u64)>>(values: I) -> Self {
        let mut sorted: BTreeMap<LinkId, u64> = BTreeMap::new();
        for (link, clicks) in values {
            let sum = sorted.entry(link).or_default();
            *sum = sum.saturating_add(clicks);
        }
        let mut counts = Self::default();
        counts.merge(sorted.into_iter());
        counts
    }
}

/// Clicks by value of one dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupCounts {
    Texts(ValueCounts),
    Links(LinkCounts),
}

impl GroupCounts {
    pub fn merge(&mut self, other: &Self) {
        match (self, other) {
            (Self::Texts(ours), Self::Texts(theirs)) => ours.merge(theirs.iter()),
            (Self::Links(ours), Self::Links(theirs)) => ours.merge(theirs.iter()),
            _ => {}
        }
    }

    pub fn bytes(&self) -> usize {
        match self {
            Self::Texts(counts) => counts.bytes(),
            Self::Links(counts) => counts.bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn merged_counts_are_the_sums(
            parts in prop::collection::vec(prop::collection::vec(("[a-c]{0,2}", 0_u64..3), 0..12), 0..5)
        ) {
            let mut counts = ValueCounts::default();
            let mut links = LinkCounts::default();
            let mut expected: BTreeMap<&str, u64> = BTreeMap::new();
            let number = |text: &str| {
                text.bytes().fold(i64::try_from(text.len()).unwrap(), |sum, byte| sum * 256 + i64::from(byte))
            };
            for part in &parts {
                let values = || part.iter().map(|(text, clicks)| (&**text, *clicks));
                counts.merge(values().collect::<ValueCounts>().iter());
                let by_link: LinkCounts =
                    values().map(|(text, clicks)| (LinkId(number(text)), clicks)).collect();
                links.merge(by_link.iter());
                for (text, clicks) in values() {
                    *expected.entry(text).or_default() += clicks;
                }
            }
            expected.retain(|_, clicks| *clicks > 0);
            prop_assert_eq!(counts.total(), expected.values().sum::<u64>());
            prop_assert_eq!(links.total(), counts.total());
            for text in ["", "a", "b", "ab", "cc", "zz"] {
                prop_assert_eq!(counts.get(text), expected.get(text).copied().unwrap_or(0));
                prop_assert_eq!(links.get(LinkId(number(text))), counts.get(text));
            }
            prop_assert_eq!(counts.iter().collect::<Vec<_>>(), expected.into_iter().collect::<Vec<_>>());
        }
    }
}
