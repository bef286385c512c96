//! The fields of a request that say something about its visitor. Whether a person follows the link is
//! decided by [`kurz_core::clicks::Visitors`]; what of the rest is kept, by `click_details`.

use http::header::{ACCEPT_LANGUAGE, DNT, REFERER, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use kurz_core::clicks::{SeenVisitor, VisitorKind, Visitors};

const SEC_PURPOSE: HeaderName = HeaderName::from_static("sec-purpose");
const SEC_GPC: HeaderName = HeaderName::from_static("sec-gpc");

/// Where a field is repeated, the first; of the wishes for privacy, any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VisitorHeaders<'a> {
    /// `Sec-Purpose`
    pub purpose: Option<&'a [u8]>,
    /// `User-Agent`
    pub agent: Option<&'a [u8]>,
    /// `Referer`
    pub referer: Option<&'a [u8]>,
    /// `Accept-Language`
    pub languages: Option<&'a [u8]>,
    /// `Sec-GPC: 1`
    pub gpc: bool,
    /// `DNT: 1`
    pub dnt: bool,
}

impl<'a> VisitorHeaders<'a> {
    pub fn read(headers: &'a HeaderMap) -> Self {
        let first = |name| headers.get(name).map(HeaderValue::as_bytes);
        let is_one = |name| headers.get_all(name).iter().any(|value| value.as_bytes() == b"1");
        Self {
            purpose: first(SEC_PURPOSE),
            agent: first(USER_AGENT),
            referer: first(REFERER),
            languages: first(ACCEPT_LANGUAGE),
            gpc: is_one(SEC_GPC),
            dnt: is_one(DNT),
        }
    }

    /// Who makes the request, and whether it is a GET.
    pub fn visitor(&self, visitors: &Visitors, method: &Method) -> SeenVisitor {
        if method != Method::GET {
            return SeenVisitor { kind: VisitorKind::Head, is_prefetch: false, agent_hash: 0 };
        }
        visitors.of_get(self.purpose, self.agent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &'static str, value: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_static(value));
        headers
    }

    #[test]
    fn head_prefetch_and_declared_bots_are_not_people() {
        let visitors = Visitors::new(1);
        let of = |headers: &HeaderMap, method: &Method| {
            VisitorHeaders::read(headers).visitor(&visitors, method).kind
        };
        let get = |headers: &HeaderMap| of(headers, &Method::GET);
        assert_eq!(get(&HeaderMap::new()), VisitorKind::Person);
        assert_eq!(of(&HeaderMap::new(), &Method::HEAD), VisitorKind::Head);
        assert_eq!(get(&with("sec-purpose", "prefetch")), VisitorKind::Other);
        assert_eq!(get(&with("sec-purpose", "prefetch;prerender")), VisitorKind::Other);
        assert_eq!(get(&with("user-agent", "bingbot/2.0")), VisitorKind::Other);
        assert_eq!(get(&with("user-agent", "Mozilla/5.0")), VisitorKind::Person);
    }

    #[test]
    fn a_wish_for_privacy_is_a_one_and_nothing_else() {
        for (name, value, gpc, dnt) in [
            ("sec-gpc", "1", true, false),
            ("dnt", "1", false, true),
            ("dnt", "0", false, false),
            ("sec-gpc", "true", false, false),
            ("dnt", "", false, false),
        ] {
            let headers = with(name, value);
            let read = VisitorHeaders::read(&headers);
            assert_eq!((read.gpc, read.dnt), (gpc, dnt), "{name}: {value}");
        }
        let mut twice = with("dnt", "0");
        twice.append("dnt", HeaderValue::from_static("1"));
        assert!(VisitorHeaders::read(&twice).dnt);
    }
}
