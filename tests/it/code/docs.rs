//! The examples and tables of `docs/CODES.md`: computed by the code, compared with the vectors, and written
//! into the page with `UPDATE_DOCS=1`.

use std::fmt::Write as _;

use kurz_core::code::counter::{DEFAULT_MULT, Scramble, Scrambler};
use kurz_core::code::{canonicalise, deterministic};

use super::vectors::{affine, decimal, number, text, vectors};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/CODES.md");

/// The vectors that the page shows, in its order.
const CANONICAL: [&str; 12] = [
    "can-007", "can-011", "can-025", "can-029", "can-035", "can-037", "can-045", "can-051",
    "can-071", "can-085", "can-097", "can-119",
];
const DETERMINISTIC: [&str; 5] = ["det-001", "det-003", "det-009", "det-013", "det-015"];
const COUNTER: [&str; 6] = ["ctr-001", "ctr-003", "ctr-005", "ctr-009", "ctr-011", "ctr-045"];

fn chosen(key: &str, ids: &[&str]) -> Vec<serde_json::Value> {
    let all = vectors(key);
    let find = |id: &&str| all.iter().find(|one| one["id"] == **id).cloned();
    ids.iter().map(|id| find(id).unwrap_or_else(|| panic!("there is no vector {id}"))).collect()
}

fn canonical_examples() -> String {
    let mut table = "| sent | canonical form | rules |\n|---|---|---|\n".to_owned();
    for vector in chosen("canonical", &CANONICAL) {
        let (input, rules) = (text(&vector, "input"), vector["rules"].as_array().unwrap());
        let form = canonicalise(input).unwrap();
        assert_eq!(form.as_str(), text(&vector, "canonical"));
        let rules: Vec<&str> = rules.iter().map(|rule| rule.as_str().unwrap()).collect();
        writeln!(table, "| `{input}` | `{}` | {} |", form.as_str(), rules.join(", ")).unwrap();
    }
    table
}

fn deterministic_examples() -> String {
    let mut lines = Vec::new();
    for vector in chosen("deterministic", &DETERMINISTIC) {
        let (url, workspace) = (text(&vector, "url"), text(&vector, "workspace"));
        let attempt: u32 = number(&vector, "salt");
        let form = canonicalise(url).unwrap();
        let code = deterministic::code_in(&form, workspace, attempt);
        assert_eq!(code.as_str(), text(&vector, "code"));
        let hash = deterministic::hash(&form, workspace, attempt);
        let hash = format!("{:08x}", u32::from_be_bytes(*hash.first_chunk().unwrap()));
        assert!(text(&vector, "sha256").starts_with(&hash));
        lines.push(format!(
            "{url}\n  workspace {workspace}, attempt {attempt}\n  SHA-256 of {}\n  begins {hash}, \
             code {code}\n",
            text(&vector, "hash_input")
        ));
    }
    format!("```text\n{}```\n", lines.concat())
}

fn counter_examples() -> String {
    let head = ["counter", "salt", "length", "affine", "feistel"].map(str::to_owned);
    let mut lines = line(&head);
    for vector in chosen("counter", &COUNTER) {
        let (counter, salt) = (decimal(&vector, "counter"), text(&vector, "salt"));
        let length: u8 = number(&vector, "length");
        assert_eq!(decimal(&vector, "mult"), DEFAULT_MULT);
        let code = affine(&vector).unwrap().code(counter);
        assert_eq!(code.as_str(), text(&vector, "code"));
        let feistel = Scrambler::new(Scramble::Feistel, salt, DEFAULT_MULT, length).unwrap();
        lines += &line(&[
            counter.to_string(),
            salt.to_owned(),
            length.to_string(),
            code.to_string(),
            feistel.code(counter).to_string(),
        ]);
    }
    format!("```text\n{lines}```\n")
}

/// Five columns of plain text.
fn line([counter, salt, length, affine, feistel]: &[String; 5]) -> String {
    format!("{counter:<9}{salt:<17}{length:<8}{affine:<12}{feistel}\n")
}

/// The chance that two hashes have the same deterministic code: the sum of the squares of the chances
/// of each code. Codes are the first ten digits of a number below 2^128, which has 22 digits or fewer:
/// those up to that of 2^128 itself begin a number of 22 digits as well, the others only shorter ones.
fn same_code() -> f64 {
    let base = 58_f64;
    let numbers = 2_f64.powi(128);
    let shorter: f64 = (0..=11).map(|power| base.powi(power)).sum();
    let codes = base.powi(10) - base.powi(9);
    let with_22 = numbers / base.powi(12) - base.powi(9);
    let chance = (shorter + base.powi(12)) / numbers;
    let rare = shorter / numbers;
    with_22 * chance * chance + (codes - with_22) * rare * rare
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A chance or a number of times, with two digits that count.
fn rounded(number: f64) -> String {
    match number {
        _ if number >= 100.0 => format!("{number:.0}"),
        _ if number >= 1.0 => format!("{number:.1}"),
        _ if number >= 0.001 => format!("{number:.4}"),
        _ => format!("{number:.1e}"),
    }
}

#[expect(clippy::cast_precision_loss, clippy::as_conversions, reason = "two digits are shown")]
fn deterministic_collisions() -> String {
    let mut table =
        "| links in the workspace | pairs that meet, on average | chance of any |\n|---|---|---|\n"
            .to_owned();
    for links in [10_000_u64, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000] {
        let pairs = links as f64 * (links - 1) as f64 / 2.0 * same_code();
        let any = -(-pairs).exp_m1();
        writeln!(table, "| {} | {} | {} |", grouped(links), rounded(pairs), rounded(any)).unwrap();
    }
    table
}

#[expect(clippy::cast_precision_loss, clippy::as_conversions, reason = "two digits are shown")]
fn random_collisions() -> String {
    let lengths = [7, 8, 10, 12];
    let mut table = "| links |".to_owned();
    for length in lengths {
        write!(table, " {length} characters |").unwrap();
    }
    table += " all five attempts at 7 |\n|---|---|---|---|---|---|\n";
    for links in [10_000_u64, 1_000_000, 100_000_000, 1_000_000_000] {
        write!(table, "| {} |", grouped(links)).unwrap();
        let taken = |length| links as f64 / 62_f64.powi(length);
        for length in lengths {
            write!(table, " {} |", rounded(taken(length))).unwrap();
        }
        writeln!(table, " {} |", rounded(taken(7).powi(5))).unwrap();
    }
    table
}

/// The page with what stands between its marks computed anew.
fn computed(page: &str) -> String {
    let sections = [
        ("canonical", canonical_examples()),
        ("deterministic", deterministic_examples()),
        ("counter", counter_examples()),
        ("deterministic-collisions", deterministic_collisions()),
        ("random-collisions", random_collisions()),
    ];
    sections.into_iter().fold(page.to_owned(), |page, (name, table)| {
        let mark = format!("<!-- computed: {name} -->\n");
        let (before, rest) = page.split_once(&mark).expect("the page has the mark");
        let (_, after) = rest.split_once("<!-- end -->").expect("the mark has an end");
        format!("{before}{mark}{table}<!-- end -->{after}")
    })
}

#[test]
fn docs_codes_md_is_up_to_date() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let expected = computed(&page);
    #[expect(clippy::disallowed_methods, reason = "a switch of the tests, not a setting")]
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(PAGE, &expected).unwrap();
        return;
    }
    assert!(page == expected, "run UPDATE_DOCS=1 ./scripts/test docs");
}

#[test]
fn two_hashes_share_a_code_as_often_as_the_table_says() {
    // A shorter code, where pairs meet often enough to be counted: the same sum with 3 digits.
    let (base, numbers) = (58_f64, 2_f64.powi(128));
    let shorter: f64 = (0..=18).map(|power| base.powi(power)).sum();
    let with_22 = numbers / base.powi(19) - base.powi(2);
    let codes = base.powi(3) - base.powi(2);
    let (chance, rare) = ((shorter + base.powi(19)) / numbers, shorter / numbers);
    let expected = with_22 * chance * chance + (codes - with_22) * rare * rare;

    let form = canonicalise("https://example.com/").unwrap();
    let count = 200_000_u32;
    let mut seen = std::collections::HashMap::<String, u64>::new();
    for workspace in 0..count {
        let hash = deterministic::hash(&form, &workspace.to_string(), 0);
        *seen.entry(deterministic::derive(*hash.first_chunk().unwrap(), 3)).or_default() += 1;
    }
    let meeting: u64 = seen.values().map(|times| times * (times - 1) / 2).sum();
    let pairs = f64::from(count) * f64::from(count - 1) / 2.0;
    #[expect(clippy::cast_precision_loss, clippy::as_conversions, reason = "far below 2^52")]
    let off = meeting as f64 / (pairs * expected) - 1.0;
    assert!(off.abs() < 0.01, "{meeting} pairs met, {off} off");
}
