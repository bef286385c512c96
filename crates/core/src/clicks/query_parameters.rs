//! What the query of a short address is looked at for: parameters that analytics use, and the one by which a
//! visitor asks not to be tracked. A query with neither is not kept.

/// Parameters that platforms of advertisers and newsletters add to a click, in lower case.
pub const CLICK_IDS: &[&str] = &[
    "gclid",
    "gbraid",
    "wbraid",
    "dclid",
    "gad_source",
    "fbclid",
    "igsh",
    "igshid",
    "msclkid",
    "ttclid",
    "twclid",
    "li_fat_id",
    "yclid",
    "ysclid",
    "sccid",
    "epik",
    "rdt_cid",
    "mc_cid",
    "mc_eid",
    "_hsenc",
    "_hsmi",
    "mkt_tok",
];

/// What a query says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryParameters {
    /// It has a campaign (`utm_…`, `ref`), the mark of a QR code (`qr`), or a click id.
    pub is_tracked: bool,
    /// It has the parameter by which a visitor asks not to be tracked.
    pub asks_not_to_track: bool,
}

impl QueryParameters {
    /// `no_track` is the name of the parameter that asks not to be tracked; `None`: there is none.
    pub fn read(query: &[u8], no_track: Option<&str>) -> Self {
        let mut found = Self::default();
        for parameter in query.split(|byte| *byte == b'&') {
            let end = parameter.iter().position(|byte| *byte == b'=');
            let name = end.and_then(|end| parameter.get(..end)).unwrap_or(parameter);
            found.is_tracked |= is_tracked(name, end.is_some());
            found.asks_not_to_track |= no_track.is_some_and(|no_track| name == no_track.as_bytes());
        }
        found
    }
}

fn is_tracked(name: &[u8], has_value: bool) -> bool {
    name == b"qr"
        || has_value
            && (name.starts_with(b"utm_")
                || name == b"ref"
                || CLICK_IDS.iter().any(|id| name.eq_ignore_ascii_case(id.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_analytics_use_makes_a_query_worth_keeping() {
        for (query, is_tracked, asks_not_to_track) in [
            ("", false, false),
            ("a=b", false, false),
            ("utm_source=news", true, false),
            ("a=b&utm_campaign=spring", true, false),
            ("utm_source", false, false),
            ("x_utm_source=news", false, false),
            ("ref=friend", true, false),
            ("href=x", false, false),
            ("qr", true, false),
            ("qr=1", true, false),
            ("a&qr&b", true, false),
            ("aqr", false, false),
            ("fbclid=IwAR0", true, false),
            ("gclid=&x", true, false),
            ("ScCid=1", true, false),
            ("notrack", false, true),
            ("notrack=1", false, true),
            ("utm_source=x&notrack", true, true),
            ("notracking", false, false),
            ("NOTRACK", false, false),
            ("&&=&==", false, false),
        ] {
            let found = QueryParameters::read(query.as_bytes(), Some("notrack"));
            assert_eq!(found, QueryParameters { is_tracked, asks_not_to_track }, "{query}");
            let without = QueryParameters::read(query.as_bytes(), None);
            assert_eq!(without, QueryParameters { is_tracked, asks_not_to_track: false });
        }
    }
}
