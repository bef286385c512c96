//! Any bytes as a URL: refused, or a canonical form that keeps its promises.

#![no_main]

use kurz_fuzz::code::canonical::MAX_BYTES;
use kurz_fuzz::code::{canonicalise, deterministic};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| {
    let Ok(form) = canonicalise(input) else { return };
    let text = form.as_str();
    assert_eq!(canonicalise(text).as_ref(), Ok(&form), "the form is its own form");
    assert!(text.bytes().all(|byte| byte.is_ascii_graphic()), "the form is fit for a header");
    assert!(!text.contains(['#', '\\', '|']), "the form holds no separator");
    assert!(text.len() <= MAX_BYTES, "the form is bounded");

    let url = url::Url::parse(text).expect("the form is a URL to others");
    assert!(matches!(url.scheme(), "http" | "https"));
    assert_eq!(url.host_str(), Some(form.host()), "others see the same host");
    assert_eq!(url.port(), form.port(), "others see the same port");
    assert!(url.username().is_empty() && url.password().is_none());

    assert_eq!(deterministic::code_in(&form, "main", 0).as_str().len(), 10);
});
