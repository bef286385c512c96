//! Confusable hosts (UTS 39): international names with a label that mixes scripts, or that is
//! written in one script and looks like plain Latin letters. Such a host is not refused, but it
//! is shown in punycode and with a warning.

use unicode_security::confusable_detection::skeleton;
use unicode_security::{RestrictionLevel, RestrictionLevelDetection};

/// Whether `host`, as in a canonical form, can be mistaken for another.
pub fn is_suspicious(host: &str) -> bool {
    // Only a punycode label contains other characters than ASCII.
    if !host.split('.').any(|label| label.starts_with("xn--")) {
        return false;
    }
    let (unicode, readable) = idna::domain_to_unicode(host);
    readable.is_err() || unicode.split('.').any(misleads)
}

fn misleads(label: &str) -> bool {
    if label.is_ascii() {
        return false;
    }
    // Chinese, Japanese and Korean names may mix Latin with Han and related scripts; other mixtures are
    // suspicious.
    !label.check_restriction_level(RestrictionLevel::HighlyRestrictive)
        // Its skeleton is an ASCII name.
        || skeleton(label).all(|c| c.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::canonicalise;

    #[track_caller]
    fn suspicious(host: &str) -> bool {
        is_suspicious(canonicalise(&format!("https://{host}/")).unwrap().host())
    }

    // threats: A7
    #[test]
    fn confusable_hosts_are_suspicious() {
        for host in [
            "аррӏе.com",          // all Cyrillic
            "xn--80ak6aa92e.com", // the same
            "www.раураӏ.example", // all Cyrillic, below www
            "pаypal.com",         // one Cyrillic letter among Latin ones
            "gооgle.example",     // Cyrillic o
            "ɡoogle.com",         // Latin script g
            "paypaı.com",         // dotless i
            "αpple.com",          // Greek alpha
        ] {
            assert!(suspicious(host), "{host}");
        }
    }

    // threats: A7
    #[test]
    fn ordinary_international_names_are_not_suspicious() {
        for host in [
            "example.com",
            "bücher.example",
            "straße.example",
            "españa.es",
            "пример.рф",
            "москва.example",
            "παράδειγμα.gr",
            "例え.jp",
            "日本語abc.jp",
            "中文.cn",
            "한국.kr",
            "भारत.example",
            "مثال.example",
            "my-bücher.example",
            "127.0.0.1",
            "[::1]",
        ] {
            assert!(!suspicious(host), "{host}");
        }
    }
}
