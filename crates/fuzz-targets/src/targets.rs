//! The targets that need no running server: parsers of what clients and operators send.

use http::{HeaderMap, HeaderValue, Method, Request};
use kurz::config::{Config, Overrides};
use kurz::net::request_host::{host_of, request_host};
use kurz::redirect::VisitorHeaders;
use kurz::web::cell;
use kurz_core::account::token::Tokens;
use kurz_core::account::{Email, claim, key_text};
use kurz_core::clicks::{VisitorKind, Visitors, referrer_host};
use kurz_core::code::canonical::MAX_BYTES;
use kurz_core::code::short_path::{PathTarget, ShortPath, parse};
use kurz_core::code::{Code, WorkspaceId, canonicalise, deterministic};
use kurz_core::host_name::normalise_host;
use kurz_core::link::qr as qr_code;
use kurz_core::time::Timestamp;

/// Any text as a URL: refused, or a canonical form with the documented properties.
pub fn canon(input: &str) {
    let Ok(form) = canonicalise(input) else { return };
    let text = form.as_str();
    assert_eq!(canonicalise(text).as_ref(), Ok(&form), "the form is its own form");
    assert!(text.bytes().all(|byte| byte.is_ascii_graphic()), "the form is fit for a header");
    assert!(!text.contains(['#', '\\', '|']), "the form holds no separator");
    assert!(text.len() <= MAX_BYTES, "the form is bounded");

    let url = url::Url::parse(text).expect("the form is a URL to the `url` crate");
    assert!(matches!(url.scheme(), "http" | "https"));
    assert_eq!(url.host_str(), Some(form.host()), "the `url` crate finds the same host");
    assert_eq!(url.port(), form.port(), "the `url` crate finds the same port");
    assert!(url.username().is_empty() && url.password().is_none());

    assert_eq!(deterministic::code_in(&form, "main", 0).as_str().len(), 10);
}

/// Any text as the path of a request: no address, or one with a single spelling.
pub fn path(input: &str) {
    let Some(ShortPath { target, preview }) = parse(input) else { return };
    let plus = if preview { "+" } else { "" };
    let spelling = match target {
        PathTarget::Bare { code } => {
            assert!(Code::parse(code).is_some());
            format!("/{code}{plus}")
        }
        PathTarget::Workspace { key, workspace, code } => {
            assert!(Code::parse(code).is_some() && WorkspaceId::parse(workspace).is_some());
            assert_eq!(key, format!("{workspace}/{code}"));
            format!("/w/{key}{plus}")
        }
    };
    assert_eq!(spelling, input);
}

/// The first line as a target, each further line as a Host field: no host, or a normalised one, and the same
/// with and without the fast case for plain fields.
pub fn host(input: &str) {
    let mut lines = input.split('\n');
    let target = lines.next().unwrap_or_default();
    let mut request = Request::builder().uri(target);
    for line in lines.take(3) {
        request = request.header("host", line);
    }
    let Ok(request) = request.body(()) else { return };
    let slow = request_host(&request).ok().and_then(normalise_host);
    let host = host_of(&request).ok();
    assert_eq!(host, slow, "the fast case finds the same host");
    let Some(host) = host else { return };
    assert_eq!(normalise_host(&host).as_deref(), Some(&*host), "it is normalised");
    assert!(host.len() <= 254 && !host.contains(['/', '@', ' ', '\\', '#', '?']));
    assert!(host.bytes().all(|byte| byte.is_ascii_graphic() && !byte.is_ascii_uppercase()));
}

/// Any text as a credential: invalid, unless it is the one that was issued.
pub fn token(input: &str) {
    let now = Timestamp::from_ms(1_773_576_000_000);
    let tokens = Tokens::new("a secret that only this target knows");
    let email = Email::parse("ada@example.com").expect("it is one");
    let good = tokens.issue(&email, 1, now).text;
    if input != good {
        assert!(tokens.read(input, now).is_none(), "a token that was not issued");
    }
    assert!(tokens.read(&good, now).is_some());
    if let Some(hash) = key_text::hash(input) {
        assert_eq!(key_text::hash(input), Some(hash));
        assert!(key_text::prefix(input).len() < input.len(), "a prefix does not reveal the key");
    }
    let _ = claim::hash(input);
    if let Ok(email) = Email::parse(input) {
        assert!(Email::parse(email.as_str()).is_ok(), "a parsed address is parsed again");
    }
}

/// Lines `KURZ_NAME=value` as the environment: refused with a message, or accepted.
pub fn config(input: &str) {
    let line = |line: &str| {
        let (name, value) = line.split_once('=')?;
        // No file: its content would be a second input.
        (name != "KURZ_CONFIG").then(|| (name.to_owned(), value.to_owned()))
    };
    let env: Vec<(String, String)> = input.lines().filter_map(line).collect();
    let nowhere = std::path::Path::new("/nonexistent");
    match Config::load(&Overrides::default(), env, nowhere) {
        Ok(config) => drop(format!("{config:?}")),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Size, colours and text of a QR code, a line each.
pub fn qr(input: &str) {
    let mut lines = input.splitn(4, '\n');
    let size = lines.next().and_then(|size| size.parse().ok());
    let (dark, light) = (lines.next(), lines.next());
    let text = lines.next().unwrap_or("https://example.com/abc");
    let Ok(look) = qr_code::Look::read(size, dark, light) else { return };
    let Ok(svg) = qr_code::svg(text, &look) else { return };
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>") && svg.len() < 2 << 20);
    let shapes = svg.matches('<').count();
    assert_eq!((shapes, svg.matches('>').count()), (4, 4), "nothing but its own elements");
    let letters = |c: char| c.is_ascii_alphanumeric() || " \"#<>=:/.-\n".contains(c);
    assert!(svg.chars().all(letters), "no character of the text");
    let png = qr_code::png(text, &look).expect("it fits, as the SVG did");
    assert!(png.starts_with(b"\x89PNG"));
}

/// `User-Agent`, `Sec-Purpose` and `Referer`, a line each: a bot is recognised whatever precedes its name.
pub fn agent(input: &[u8]) {
    let visitors = Visitors::new(7);
    let visitor_kind = |visitors: &Visitors, method: &Method, headers: &HeaderMap| {
        VisitorHeaders::read(headers).visitor(visitors, method).kind
    };
    let mut headers = HeaderMap::new();
    let mut lines = input.splitn(3, |byte| *byte == b'\n');
    for name in ["user-agent", "sec-purpose", "referer"] {
        if let Some(value) = lines.next().and_then(|line| HeaderValue::from_bytes(line).ok()) {
            headers.insert(name, value);
        }
    }
    if let Some(referer) = VisitorHeaders::read(&headers).referer {
        let host = referrer_host(referer);
        assert!(!host.contains(&b'/') && !host.contains(&b'?'), "nothing but the host");
        assert!(!host.iter().any(u8::is_ascii_uppercase));
    }
    let first = visitor_kind(&visitors, &Method::GET, &headers);
    assert_eq!(
        visitor_kind(&visitors, &Method::GET, &headers),
        first,
        "the cached result is the same"
    );
    assert_eq!(visitor_kind(&visitors, &Method::HEAD, &headers), VisitorKind::Head);
    let agent = headers.get("user-agent").map(|agent| agent.as_bytes().to_vec());
    let bot = [agent.unwrap_or_default(), b" Googlebot/2.1".to_vec()].concat();
    if let Ok(bot) = HeaderValue::from_bytes(&bot) {
        headers.insert("user-agent", bot);
        assert_eq!(visitor_kind(&visitors, &Method::GET, &headers), VisitorKind::Other);
    }
}

/// Any bytes as a row of the event log, as every column of a block, and as the sums of a day: refused, or events that are
/// encoded and decoded to the same again. Without its checksum a content is hardly ever looked at, so the bytes are
/// also tried with a head of their own: the first byte is the column, the second the number of events.
pub fn block(input: &[u8]) {
    use kurz_core::analytics::DaySums;
    use kurz_core::analytics::block::{decode_columns, decode_row, encode_columns, seal_raw};

    let _ = decode_row(input);
    let _ = DaySums::decode(input);
    let [column, events, content @ ..] = input else { return };
    let sealed = seal_raw(*column, usize::from(*events), content);
    let _ = decode_row(&sealed);
    let _ = DaySums::decode(&sealed);
    let _ = decode_columns([(*column, input)]);
    let Ok(batch) = decode_columns([(*column, sealed.as_slice())]) else { return };
    assert!(batch.counts.len() <= usize::from(*events), "no more events than it says");
    if batch.links.is_empty() {
        return;
    }
    let again = encode_columns(&batch);
    let again = decode_columns(again.iter().map(|(column, data)| (*column, data.as_slice())));
    assert_eq!(again.map(|again| again.links), Ok(batch.links), "it is encoded again");
}

/// Any text as a cell of a CSV file: one cell, no formula, nothing lost.
pub fn csv(input: &str) {
    let cell = cell(input);
    let inner = cell.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let inner = inner.expect("it is in quotes");
    assert!(!inner.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']), "no formula");
    assert!(!inner.replace("\"\"", "").contains('"'), "it does not end early");
    let read = inner.replace("\"\"", "\"");
    assert!(read == input || read.strip_prefix('\'') == Some(input), "nothing is lost");
}
