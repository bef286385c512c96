//! Tests of the canonical form as a whole; its parts are tested in their own files, the vectors in
//! `tests/it/code/vectors.rs`.

use proptest::prelude::*;

use super::*;

fn canonical(input: &str) -> Result<String, UrlError> {
    canonicalise(input).map(Canonical::into_string)
}

#[test]
fn refusals_name_their_reason() {
    let long = format!("http://h/{}", "a".repeat(MAX_BYTES));
    let grows = format!("http://h/{}", "é".repeat(MAX_BYTES / 4));
    for (input, error) in [
        ("", UrlError::Empty),
        (" \0\t\r\n ", UrlError::Empty),
        ("http://h/\n/", UrlError::ControlCharacters),
        ("http://h/#\u{7f}x", UrlError::ControlCharacters),
        ("java\tscript:alert(1)", UrlError::ControlCharacters),
        ("javascript:alert(1)", UrlError::SchemeNotAllowed),
        ("JaVaScRiPt://h/%0aalert(1)", UrlError::SchemeNotAllowed),
        ("data:text/html,x", UrlError::SchemeNotAllowed),
        ("ftp://h/", UrlError::SchemeNotAllowed),
        ("localhost:8080", UrlError::SchemeNotAllowed),
        ("example.com", UrlError::SchemeMissing),
        ("//example.com", UrlError::SchemeMissing),
        ("1http://h/", UrlError::SchemeMissing),
        ("https:h", UrlError::SchemeMissing),
        ("https:/h", UrlError::SchemeMissing),
        ("https:\\\\h", UrlError::SchemeMissing),
        ("é://h", UrlError::SchemeMissing),
        ("http://a@b/", UrlError::UserinfoNotAllowed),
        ("http://@b/", UrlError::UserinfoNotAllowed),
        ("http://a\\b/", UrlError::Backslash),
        ("http://h/a\\b", UrlError::Backslash),
        ("http://", UrlError::HostEmpty),
        ("http:///a", UrlError::HostEmpty),
        ("http://?a", UrlError::HostEmpty),
        ("http://:80/", UrlError::HostEmpty),
        ("http://%61/", UrlError::HostInvalid),
        ("http://[::1/", UrlError::HostInvalid),
        ("http://h:x/", UrlError::PortInvalid),
        ("http://h:80:80/", UrlError::PortInvalid),
        ("http://h:65536/", UrlError::PortInvalid),
        (&long, UrlError::TooLong),
        (&grows, UrlError::TooLong),
    ] {
        assert_eq!(canonical(input), Err(error), "{input:?}");
    }
}

#[test]
fn a_refusal_is_one_sentence_and_one_kebab_case_code() {
    for error in [
        UrlError::Empty,
        UrlError::ControlCharacters,
        UrlError::TooLong,
        UrlError::SchemeMissing,
        UrlError::SchemeNotAllowed,
        UrlError::UserinfoNotAllowed,
        UrlError::Backslash,
        UrlError::HostEmpty,
        UrlError::HostInvalid,
        UrlError::PortInvalid,
    ] {
        assert!(error.code().starts_with("url-"), "{error:?}");
        assert!(error.code().bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{error:?}");
        let sentence = error.to_string();
        assert!(sentence.ends_with('.') && sentence.contains(": "), "{sentence}");
    }
}

#[test]
fn host_and_port_are_those_of_the_form() {
    for (input, host, port) in [
        ("HTTPS://Example.com:443/", "example.com", None),
        ("http://Example.com:0443/", "example.com", Some(443)),
        ("http://[::0001]:8080?x", "[::1]", Some(8080)),
        ("http://0x7f.1:0/", "127.0.0.1", Some(0)),
        ("https://bücher.example", "xn--bcher-kva.example", None),
    ] {
        let canonical = canonicalise(input).unwrap();
        assert_eq!((canonical.host(), canonical.port()), (host, port), "{input:?}");
    }
}

#[test]
fn targets_that_no_server_can_have_are_found() {
    let label = "a".repeat(63);
    let name = format!("http://{label}.{label}.{label}.{}", "a".repeat(61));
    for good in ["http://a/", "http://a./", "http://127.0.0.1:1/", "http://[::1]/", &name] {
        assert_eq!(canonicalise(good).unwrap().check_reachable(), Ok(()), "{good}");
    }
    let (long_label, long_name) = (format!("http://{label}a/"), format!("{name}a/"));
    for (bad, error) in [
        ("http://a:0/", UrlError::PortInvalid),
        ("http://a..b/", UrlError::HostInvalid),
        ("http://./", UrlError::HostInvalid),
        (long_label.as_str(), UrlError::HostInvalid),
        (long_name.as_str(), UrlError::HostInvalid),
    ] {
        assert_eq!(canonicalise(bad).unwrap().check_reachable(), Err(error), "{bad}");
    }
}

#[test]
fn the_longest_form_is_taken_and_one_byte_more_is_not() {
    let longest = format!("http://h/{}", "a".repeat(MAX_BYTES - 9));
    assert_eq!(canonical(&longest).as_deref(), Ok(longest.as_str()));
    assert_eq!(canonical(&format!("  {longest}\n")).as_deref(), Ok(longest.as_str()));
    assert_eq!(canonical(&format!("{longest}a")), Err(UrlError::TooLong));
    // 8,192 bytes as sent, one more once the path has its slash.
    let query = format!("http://h?{}", "a".repeat(MAX_BYTES - 9));
    assert_eq!(canonical(&query), Err(UrlError::TooLong));
}

#[test]
fn the_hash_is_that_of_the_text() {
    let canonical = canonicalise("https://example.com/page").unwrap();
    assert_eq!(canonical.sha256(), <[u8; 32]>::from(Sha256::digest("https://example.com/page")));
}

/// The properties of every canonical form.
fn check(input: &str) -> Result<(), TestCaseError> {
    let Ok(form) = canonicalise(input) else { return Ok(()) };
    prop_assert_eq!(canonicalise(form.as_str()), Ok(form.clone()), "made of {:?}", input);
    prop_assert!(form.as_str().bytes().all(|byte| byte.is_ascii_graphic()), "{}", form);
    prop_assert!(!form.as_str().contains(['#', '\\', '|']), "{}", form);
    prop_assert!(form.as_str().len() <= MAX_BYTES);
    let url = url::Url::parse(form.as_str()).map_err(|e| TestCaseError::fail(e.to_string()))?;
    prop_assert_eq!(url.host_str(), Some(form.host()));
    prop_assert_eq!(url.port(), form.port());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_is_refused_or_has_a_form(input in any::<String>()) {
        check(&input)?;
    }

    #[test]
    fn any_text_after_a_scheme_is_refused_or_has_a_form(rest in any::<String>()) {
        check(&format!("http://{rest}"))?;
        check(&format!("https://h/{rest}"))?;
        check(&format!("https://h?{rest}"))?;
    }

    #[test]
    fn what_looks_like_a_url_is_refused_or_has_a_form(
        input in "[hH]ttps?://[a-zA-Z0-9.é_-]{1,12}(:[0-9]{0,6})?(/[a-z./%2eE7é|+ ]{0,8}){0,5}\
                  (\\?([a-cA-C%2d36=+&'? ]{0,5}&){0,5})?(#.{0,5})?"
    ) {
        check(&input)?;
    }
}
