//! What the query of a short address says about a campaign: the UTM parameters and `ref`, the mark of a QR
//! code, and the ids that advertisers and newsletters add.

use compact_str::CompactString;
use kurz_core::analytics::TextColumn;

use super::channel::Channel;
use super::text::{MOST, clean};

/// Parameters, and the columns that they fill.
pub(super) const CAMPAIGN_COLUMNS: [(&str, TextColumn); 6] = [
    ("utm_source", TextColumn::UtmSource),
    ("utm_medium", TextColumn::UtmMedium),
    ("utm_campaign", TextColumn::UtmCampaign),
    ("utm_term", TextColumn::UtmTerm),
    ("utm_content", TextColumn::UtmContent),
    ("ref", TextColumn::Ref),
];

/// Click ids, and what they say. Facebook and Instagram add theirs to every link, paid or not.
const CLICK_ID_CHANNELS: &[(&str, Channel)] = &[
    ("gclid", Channel::Paid),
    ("gbraid", Channel::Paid),
    ("wbraid", Channel::Paid),
    ("dclid", Channel::Paid),
    ("gad_source", Channel::Paid),
    ("msclkid", Channel::Paid),
    ("ttclid", Channel::Paid),
    ("twclid", Channel::Paid),
    ("li_fat_id", Channel::Paid),
    ("yclid", Channel::Paid),
    ("sccid", Channel::Paid),
    ("rdt_cid", Channel::Paid),
    ("epik", Channel::Paid),
    ("ysclid", Channel::Search),
    ("fbclid", Channel::Social),
    ("igsh", Channel::Social),
    ("igshid", Channel::Social),
    ("mc_cid", Channel::Email),
    ("mc_eid", Channel::Email),
    ("_hsenc", Channel::Email),
    ("_hsmi", Channel::Email),
    ("mkt_tok", Channel::Email),
];

/// Values of `utm_medium` in lower case. One that begins with `paid` or `cp` and a letter is paid as well.
const MEDIA: &[(&str, Channel)] = &[
    ("ppc", Channel::Paid),
    ("ads", Channel::Paid),
    ("ad", Channel::Paid),
    ("banner", Channel::Paid),
    ("display", Channel::Paid),
    ("retargeting", Channel::Paid),
    ("remarketing", Channel::Paid),
    ("sem", Channel::Paid),
    ("email", Channel::Email),
    ("e-mail", Channel::Email),
    ("e_mail", Channel::Email),
    ("mail", Channel::Email),
    ("newsletter", Channel::Email),
    ("social", Channel::Social),
    ("social-media", Channel::Social),
    ("social_media", Channel::Social),
    ("social media", Channel::Social),
    ("social-network", Channel::Social),
    ("sm", Channel::Social),
    ("organic-social", Channel::Social),
    ("organic", Channel::Search),
    ("search", Channel::Search),
    ("seo", Channel::Search),
    ("video", Channel::Video),
    ("ai", Channel::Ai),
    ("llm", Channel::Ai),
    ("sms", Channel::Messenger),
    ("chat", Channel::Messenger),
    ("messenger", Channel::Messenger),
    ("whatsapp", Channel::Messenger),
    ("qr", Channel::Qr),
    ("qrcode", Channel::Qr),
    ("qr-code", Channel::Qr),
    ("qr_code", Channel::Qr),
    ("referral", Channel::Referral),
    ("affiliate", Channel::Referral),
    ("partner", Channel::Referral),
];

/// What a query says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Campaign {
    /// By [`CAMPAIGN_COLUMNS`].
    pub texts: [CompactString; CAMPAIGN_COLUMNS.len()],
    /// It has the mark of kurz's QR codes.
    pub is_qr: bool,
    /// The channel that a click id or the medium names.
    pub channel: Option<Channel>,
}

impl Campaign {
    /// `query` is without its `?`, and may be any bytes.
    pub fn read(query: &[u8]) -> Self {
        let mut found = Self::default();
        let mut by_click_id = None;
        for parameter in query.split(|byte| *byte == b'&') {
            let end = parameter.iter().position(|byte| *byte == b'=');
            let (name, value) = match end.and_then(|end| parameter.split_at_checked(end)) {
                Some((name, value)) => (name, value.strip_prefix(b"=").unwrap_or(value)),
                None => (parameter, &b""[..]),
            };
            if name == b"qr" {
                found.is_qr = true;
                continue;
            }
            let is_named = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
            let column = CAMPAIGN_COLUMNS.iter().position(|(known, _)| is_named(known));
            if let Some(text) = column.and_then(|at| found.texts.get_mut(at)) {
                if text.is_empty() {
                    *text = clean(&decode(value), MOST);
                }
            } else if by_click_id != Some(Channel::Paid) {
                let id = CLICK_ID_CHANNELS.iter().find(|(known, _)| is_named(known));
                by_click_id = id.map(|(_, channel)| *channel).or(by_click_id);
            }
        }
        let by_medium = found.texts.get(1).and_then(|medium| channel_of_medium(medium));
        // Ads of Facebook have its click id, and say in the medium that they are paid.
        let is_paid = by_medium == Some(Channel::Paid);
        found.channel = by_medium.filter(|_| is_paid).or(by_click_id).or(by_medium);
        found
    }

    /// What calls itself the source: `utm_source`, else `ref`.
    pub fn source(&self) -> &str {
        let [source, .., reference] = &self.texts;
        if source.is_empty() { reference } else { source }
    }
}

fn channel_of_medium(medium: &str) -> Option<Channel> {
    let medium = medium.to_ascii_lowercase();
    let is_paid =
        medium.starts_with("paid") || matches!(&*medium, "cpc" | "cpm" | "cpv" | "cpa" | "cpp");
    if is_paid {
        return Some(Channel::Paid);
    }
    MEDIA.iter().find(|(name, _)| *name == medium).map(|(_, channel)| *channel)
}

/// Percent-decoded, with `+` as a space. Enough of the value for any text that is kept.
fn decode(value: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(value.len().min(4 * MOST));
    let mut rest = value;
    while let [first, after @ ..] = rest {
        if decoded.len() >= 4 * MOST {
            break;
        }
        rest = after;
        match (first, after) {
            (b'+', _) => decoded.push(b' '),
            (b'%', [high, low, after @ ..]) => match (hex(*high), hex(*low)) {
                (Some(high), Some(low)) => {
                    decoded.push(high << 4 | low);
                    rest = after;
                }
                _ => decoded.push(b'%'),
            },
            _ => decoded.push(*first),
        }
    }
    decoded
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurz_core::clicks::CLICK_IDS;
    use proptest::prelude::*;

    fn texts(query: &str) -> [CompactString; 6] {
        Campaign::read(query.as_bytes()).texts
    }

    #[test]
    fn every_click_id_that_is_kept_says_something() {
        for id in CLICK_IDS {
            let found = Campaign::read(format!("{id}=1").as_bytes());
            assert!(found.channel.is_some(), "{id}");
        }
    }

    #[test]
    fn parameters_are_decoded_and_cut() {
        let query = "utm_source=news%20letter&utm_medium=e+mail&utm_campaign=Fr%C3%BChling&utm_term=a%00b&\
                     utm_content=%ff%41&ref=x%2&utm_source=second&other=1";
        assert_eq!(texts(query), ["news letter", "e mail", "Frühling", "ab", "\u{fffd}A", "x%2"]);
        let long = format!("utm_source={}", "%C3%A4".repeat(2_000));
        let [source, ..] = texts(&long);
        assert_eq!(source, "ä".repeat(32));
        assert_eq!(texts("UTM_Source=A&utm_sourc=b&=c&&utm_term"), ["A", "", "", "", "", ""]);
        assert_eq!(
            texts("utm_source=%01&utm_campaign=%02"),
            [""; 6],
            "these stand for other values"
        );
    }

    #[test]
    fn marks_click_ids_and_media_name_a_channel() {
        let cases: &[(&str, bool, Option<Channel>)] = &[
            ("qr", true, None),
            ("qr=1&utm_source=flyer", true, None),
            ("gclid=abc", false, Some(Channel::Paid)),
            ("ScCid=abc", false, Some(Channel::Paid)),
            ("fbclid=abc", false, Some(Channel::Social)),
            ("fbclid=abc&utm_medium=paid_social", false, Some(Channel::Paid)),
            ("fbclid=abc&gclid=x", false, Some(Channel::Paid)),
            ("gclid=x&fbclid=abc", false, Some(Channel::Paid)),
            ("utm_medium=CPC", false, Some(Channel::Paid)),
            ("utm_medium=newsletter", false, Some(Channel::Email)),
            ("utm_medium=organic", false, Some(Channel::Search)),
            ("utm_medium=flyer", false, None),
            ("mc_eid=1", false, Some(Channel::Email)),
            ("", false, None),
        ];
        for (query, is_qr, channel) in cases {
            let found = Campaign::read(query.as_bytes());
            assert_eq!((found.is_qr, found.channel), (*is_qr, *channel), "{query}");
        }
        assert_eq!(Campaign::read(b"utm_source=a&ref=b").source(), "a");
        assert_eq!(Campaign::read(b"ref=b").source(), "b");
    }

    proptest! {
        #[test]
        fn any_bytes_give_short_texts(query in prop::collection::vec(any::<u8>(), 0..600)) {
            for text in &Campaign::read(&[b"utm_source=", &query[..]].concat()).texts {
                prop_assert!(text.len() <= MOST && !text.chars().any(char::is_control));
            }
        }
    }
}
