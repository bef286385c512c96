//! Enumerations whose variants have a name on the wire, and the nearest of them to a word that is none.

/// Declare an enumeration with a name for each variant.
macro_rules! names {
    ($(#[$doc:meta])* $kind:ident { $($(#[$each:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $kind { $($(#[$each])* $variant,)+ }

        impl $kind {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|it| it.name() == name)
            }
        }
    };
}
pub(super) use names;

/// The most characters of a word that is compared.
const MOST_CHARS: usize = 40;

/// The known word that differs least from `word`, whatever the case; the first of several.
pub(super) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.to_lowercase().chars().take(MOST_CHARS).collect();
    known.min_by_key(|known| {
        let known: Vec<char> = known.to_lowercase().chars().collect();
        distance(&word, &known)
    })
}

/// How many characters have to be inserted, removed or replaced.
fn distance(from: &[char], to: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, one) in from.iter().enumerate() {
        let mut corner = line;
        let mut left = line + 1;
        for (place, other) in row.iter_mut().skip(1).zip(to) {
            let replaced = corner + usize::from(one != other);
            corner = *place;
            left = replaced.min(left + 1).min(corner + 1);
            *place = left;
        }
        if let Some(first) = row.first_mut() {
            *first = line + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_that_with_the_fewest_differences() {
        let words = ["phone", "tablet", "desktop"];
        for (word, expected) in [("Phones", "phone"), ("tab", "tablet"), ("desk top", "desktop")] {
            assert_eq!(nearest(word, words.into_iter()), Some(expected));
        }
        assert_eq!(nearest("x", std::iter::empty()), None);
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        assert_eq!(distance(&chars("kitten"), &chars("sitting")), 3);
        assert_eq!(distance(&[], &chars("abc")), 3);
        assert_eq!(distance(&chars("abc"), &[]), 3);
    }
}
