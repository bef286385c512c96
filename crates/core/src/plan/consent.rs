//! The token in the form of a consent page. It proves that the page was shown, to somebody, today or yesterday; it
//! says nothing about the visitor and nothing is stored for it.

use siphasher::sip::SipHasher13;

use crate::link::LinkId;
use crate::time::Timestamp;

const DAY_MS: i64 = 24 * 3_600_000;

/// The token for a link in this version on the day of `at`: 16 hex digits.
pub fn consent_token(key: [u8; 16], link: LinkId, version: i64, at: Timestamp) -> String {
    format!("{:016x}", token(key, link, version, at.as_ms().div_euclid(DAY_MS)))
}

/// Whether `given` is the token of today or yesterday.
pub fn is_consent_token(
    given: &str,
    key: [u8; 16],
    link: LinkId,
    version: i64,
    at: Timestamp,
) -> bool {
    let day = at.as_ms().div_euclid(DAY_MS);
    [day, day - 1]
        .into_iter()
        .any(|day| given == format!("{:016x}", token(key, link, version, day)))
}

fn token(key: [u8; 16], link: LinkId, version: i64, day: i64) -> u64 {
    let mut bytes = [0; 24];
    for (place, number) in bytes.chunks_exact_mut(8).zip([link.0, version, day]) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    SipHasher13::new_with_key(&key).hash(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_good_for_its_link_version_and_day_and_the_day_after() {
        let at = |text| Timestamp::parse_rfc3339(text).unwrap();
        let (key, link) = ([7; 16], LinkId(5));
        let made = at("2026-11-18T23:59:00Z");
        let token = consent_token(key, link, 3, made);
        assert_eq!(token.len(), 16);
        assert!(is_consent_token(&token, key, link, 3, made));
        assert!(is_consent_token(&token, key, link, 3, at("2026-11-19T23:59:59Z")));
        assert!(!is_consent_token(&token, key, link, 3, at("2026-11-20T00:00:00Z")));
        assert!(!is_consent_token(&token, key, link, 4, made));
        assert!(!is_consent_token(&token, key, LinkId(6), 3, made));
        assert!(!is_consent_token(&token, [8; 16], link, 3, made));
        assert!(!is_consent_token("", key, link, 3, made));
    }
}
