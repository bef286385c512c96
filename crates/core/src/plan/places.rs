//! Countries, regions and continents as small numbers.

/// Countries by continent. One that lies on two is where the United Nations count it.
const CONTINENTS: [(&str, &str); 7] = [
    (
        "AF",
        "AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG EH ER ET GA GH GM GN GQ GW KE KM LR LS LY MA MG ML MR MU MW \
         MZ NA NE NG RE RW SC SD SH SL SN SO SS ST SZ TD TG TN TZ UG YT ZA ZM ZW",
    ),
    ("AN", "AQ BV GS HM TF"),
    (
        "AS",
        "AE AF AM AZ BD BH BN BT CC CN CX CY GE HK ID IL IN IO IQ IR JO JP KG KH KP KR KW KZ LA LB LK MM MN MO \
         MV MY NP OM PH PK PS QA SA SG SY TH TJ TL TM TR TW UZ VN YE",
    ),
    (
        "EU",
        "AD AL AT AX BA BE BG BY CH CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI LT LU LV MC MD \
         ME MK MT NL NO PL PT RO RS RU SE SI SJ SK SM UA VA XK",
    ),
    (
        "NA",
        "AG AI AW BB BL BM BQ BS BZ CA CR CU CW DM DO GD GL GP GT HN HT JM KN KY LC MF MQ MS MX NI PA PM PR SV \
         SX TC TT US VC VG VI",
    ),
    ("OC", "AS AU CK FJ FM GU KI MH MP NC NF NR NU NZ PF PG PN PW SB TK TO TV UM VU WF WS"),
    ("SA", "AR BO BR CL CO EC FK GF GY PE PY SR UY VE"),
];

/// Members of the European Union.
const UNION: &str =
    "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK";

/// A country by its two letters, five bits each; 0 is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Country(u16);

impl Country {
    pub const UNKNOWN: Self = Self(0);

    /// From two letters; unknown if they are none.
    #[inline]
    pub const fn from_letters(letters: [u8; 2]) -> Self {
        let [first, second] = letters;
        if first.is_ascii_alphabetic() && second.is_ascii_alphabetic() {
            Self(u16::from_be_bytes([0, first & 31]) << 5 | u16::from_be_bytes([0, second & 31]))
        } else {
            Self::UNKNOWN
        }
    }

    /// From a text such as `DE`; unknown if it is none.
    #[inline]
    pub fn from_text(text: &str) -> Self {
        text.as_bytes().try_into().map_or(Self::UNKNOWN, Self::from_letters)
    }

    #[inline]
    pub const fn is_known(self) -> bool {
        self.0 != 0
    }

    pub(super) const fn number(self) -> u16 {
        self.0
    }

    /// Its two letters in upper case; empty if it is unknown.
    pub fn text(self) -> String {
        self.letters().as_slice().iter().copied().map(char::from).collect()
    }

    /// Its two letters; none if it is unknown.
    #[inline]
    pub(super) fn letters(self) -> CountryLetters {
        let letter = |code: u16| b'@' + u8::try_from(code & 31).unwrap_or_default();
        CountryLetters(self.is_known().then(|| [letter(self.0 >> 5), letter(self.0)]))
    }

    /// The two letters of its continent.
    pub fn continent(self) -> Option<&'static str> {
        let has = |list: &str| all(list).any(|country| country == self);
        CONTINENTS.iter().find(|(_, list)| has(list)).map(|(name, _)| *name)
    }

    pub fn is_in_union(self) -> bool {
        all(UNION).any(|country| country == self)
    }
}

pub(super) struct CountryLetters(Option<[u8; 2]>);

impl CountryLetters {
    pub(super) fn as_slice(&self) -> &[u8] {
        self.0.as_ref().map_or(&[], |letters| letters.as_slice())
    }
}

fn all(list: &str) -> impl Iterator<Item = Country> {
    list.split(' ').map(Country::from_text)
}

/// All countries.
pub fn countries() -> impl Iterator<Item = &'static str> {
    CONTINENTS.iter().flat_map(|(_, list)| list.split(' '))
}

/// All continents.
pub fn continents() -> impl Iterator<Item = &'static str> {
    CONTINENTS.iter().map(|(name, _)| *name)
}

/// The countries of a continent.
pub(super) fn countries_of(continent: &str) -> impl Iterator<Item = Country> {
    let list = CONTINENTS.iter().find(|(name, _)| *name == continent).map(|(_, list)| *list);
    list.into_iter().flat_map(all)
}

/// The countries of the European Union.
pub(super) fn countries_of_union() -> impl Iterator<Item = Country> {
    all(UNION)
}

/// A subdivision as ISO 3166-2 writes it (`DE-BY`, `GB-ENG`); 0 is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Region(u32);

impl Region {
    pub const UNKNOWN: Self = Self(0);

    /// From a text such as `DE-BY`; unknown if it is none.
    #[inline]
    pub fn from_text(text: &str) -> Self {
        Self::parse(text.as_bytes()).unwrap_or(Self::UNKNOWN)
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let (country, rest) = text.split_first_chunk::<2>()?;
        let country = Country::from_letters(*country);
        let part = rest.strip_prefix(b"-")?;
        if !country.is_known() || !(1..=3).contains(&part.len()) {
            return None;
        }
        let part = part.iter().try_fold(0_u32, |code, byte| {
            let six = match byte {
                b'0'..=b'9' => byte - b'0' + 27,
                letter if letter.is_ascii_alphabetic() => letter & 31,
                _ => return None,
            };
            Some(code << 6 | u32::from(six))
        })?;
        Some(Self(u32::from(country.number()) << 18 | part))
    }

    #[inline]
    pub const fn is_known(self) -> bool {
        self.0 != 0
    }

    pub(super) const fn number(self) -> u32 {
        self.0
    }

    /// As ISO 3166-2 writes it; empty if it is unknown.
    pub fn text(self) -> String {
        if !self.is_known() {
            return String::new();
        }
        let country = Country(u16::try_from(self.0 >> 18).unwrap_or_default());
        let part = [self.0 >> 12, self.0 >> 6, self.0].map(|six| six & 63);
        let part = part.into_iter().filter(|six| *six != 0).map(|six| {
            let six = u8::try_from(six).unwrap_or_default();
            char::from(if six > 26 { b'0' + six - 27 } else { b'@' + six })
        });
        format!("{}-{}", country.text(), part.collect::<String>())
    }
}

/// Where a visitor is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VisitorPlace {
    pub country: Country,
    pub region: Region,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_country_has_a_name_and_one_continent() {
        let list = include_str!("../../../../assets/countries.txt");
        let mut named: Vec<&str> = list.lines().filter_map(|line| line.get(..2)).collect();
        let mut known: Vec<&str> = countries().collect();
        named.sort_unstable();
        known.sort_unstable();
        assert_eq!(known, named);
        assert_eq!(Country::from_text("de").continent(), Some("EU"));
        assert_eq!(Country::from_text("TR").continent(), Some("AS"));
        assert_eq!(Country::from_text("QQ").continent(), None);
        assert!(Country::from_text("CY").is_in_union() && !Country::from_text("GB").is_in_union());
        assert_eq!(countries_of_union().filter(|it| it.continent().is_some()).count(), 27);
    }

    #[test]
    fn places_survive_a_round_trip() {
        for text in countries() {
            assert_eq!(Country::from_text(text).text(), text);
        }
        for text in ["DE-BY", "GB-ENG", "US-CA", "FR-75", "AT-9", "FR-2A"] {
            assert_eq!(Region::from_text(text).text(), text);
        }
        assert_eq!(Region::from_text("de-by"), Region::from_text("DE-BY"));
        for text in ["", "DE", "DE-", "DE-ABCD", "D-BY", "DE_BY", "DE-Ä", "12-AB"] {
            assert!(!Region::from_text(text).is_known(), "{text}");
        }
        for text in ["", "D", "DEU", "4D", "Ä"] {
            assert!(!Country::from_text(text).is_known(), "{text}");
        }
    }
}
