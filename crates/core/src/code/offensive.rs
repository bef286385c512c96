//! Words that a generated code should not spell, with digits and capitals read as similar letters.
//!
//! Custom codes are not checked because they were chosen, deterministic ones because they are fixed by the
//! URL. A counter or random value whose code is offensive is skipped, so two counters still never share
//! a code.

/// English, German and Spanish, in lower case, four letters or more: too many codes contain shorter ones.
const WORDS: &[&str] = &[
    "anal", "anus", "arsch", "bastard", "bitch", "cabron", "cock", "cono", "coon", "crap", "cunt",
    "dick", "dildo", "dyke", "fagg", "fick", "fotze", "fuck", "gook", "hitler", "homo", "hure",
    "joder", "jizz", "kack", "kike", "maric", "mierda", "nazi", "negro", "nigg", "nutte", "penis",
    "piss", "polla", "porn", "puta", "puto", "pussy", "rape", "retard", "scheis", "schlamp",
    "schwuch", "sexo", "shit", "slut", "spic", "titten", "tits", "trann", "twat", "vagina", "wank",
    "whore", "wichs",
];

/// Whether `code` spells one of the words.
pub fn is_offensive(code: &str) -> bool {
    // A one is read as an i or as an l.
    ['i', 'l'].into_iter().any(|one| {
        let read: String = code.chars().map(|letter| as_read(letter, one)).collect();
        WORDS.iter().any(|word| read.contains(word))
    })
}

fn as_read(letter: char, one: char) -> char {
    match letter {
        '0' => 'o',
        '1' => one,
        '3' => 'e',
        '4' => 'a',
        '5' => 's',
        '7' => 't',
        '8' => 'b',
        '9' => 'g',
        other => other.to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::random;
    use crate::code::test_random::fill;

    // threats: B9
    #[test]
    fn words_are_found_however_they_are_spelt() {
        for bad in
            ["xfuckx1", "FuCkabc", "5h17abc", "aaSh1T0", "p0rn123", "ab7w47z", "po11aXY", "7i75abc"]
        {
            assert!(is_offensive(bad), "{bad}");
        }
        for good in ["promo12", "fu-ckab", "aB3xY9z", "", "duck123"] {
            assert!(!is_offensive(good), "{good}");
        }
        assert!(WORDS.iter().all(|word| word.len() >= 4 && is_offensive(word)));
    }

    // threats: B9
    #[test]
    fn few_codes_are_skipped() {
        let mut fill = fill(1);
        let mut is_spelt = |_: &u32| is_offensive(random::code(7, &mut fill).as_str());
        let spelt = (0..100_000).filter(&mut is_spelt).count();
        assert!(spelt < 500, "{spelt} of 100,000");
    }
}
