//! Reads from a request what decides whether a person follows the link: its method, `Sec-Purpose` and
//! `User-Agent`. The rules are in [`kurz_core::clicks::Visitors`].

use http::header::USER_AGENT;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use kurz_core::clicks::{VisitorKind, Visitors};

const SEC_PURPOSE: HeaderName = HeaderName::from_static("sec-purpose");

/// Who makes a request, and whether it is a GET.
pub fn visitor_kind(visitors: &Visitors, method: &Method, headers: &HeaderMap) -> VisitorKind {
    if method != Method::GET {
        return VisitorKind::Head;
    }
    let field = |name| headers.get(name).map(HeaderValue::as_bytes);
    visitors.of_get(field(SEC_PURPOSE), field(USER_AGENT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_prefetch_and_declared_bots_are_not_people() {
        let visitors = Visitors::new(1);
        let with = |name: &'static str, value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_static(value));
            headers
        };
        let of = |headers: &HeaderMap| visitor_kind(&visitors, &Method::GET, headers);
        assert_eq!(of(&HeaderMap::new()), VisitorKind::Person);
        let head = visitor_kind(&visitors, &Method::HEAD, &HeaderMap::new());
        assert_eq!(head, VisitorKind::Head);
        assert_eq!(of(&with("sec-purpose", "prefetch")), VisitorKind::Other);
        assert_eq!(of(&with("sec-purpose", "prefetch;prerender")), VisitorKind::Other);
        assert_eq!(of(&with("user-agent", "bingbot/2.0")), VisitorKind::Other);
        assert_eq!(of(&with("user-agent", "Mozilla/5.0")), VisitorKind::Person);
    }
}
