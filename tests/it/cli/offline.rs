//! The offline subcommands, run as a user runs them: the built binary over every vector, once as
//! arguments and once by the line, with the exit codes of the contract.

use std::io::{Read, Write};
use std::process::{Command, Output, Stdio};
use std::thread;

use serde_json::{Value, json};

/// The vectors under one key.
fn vectors(key: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("../../vectors/vectors.json")).unwrap();
    all[key].as_array().unwrap().clone()
}

fn text<'a>(vector: &'a Value, field: &str) -> &'a str {
    vector[field].as_str().unwrap_or_else(|| panic!("{field} of {vector} is text"))
}

fn kurz(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kurz"));
    command.args(args).env_clear();
    command
}

fn run(args: &[&str]) -> Output {
    kurz(args).stdin(Stdio::null()).output().unwrap()
}

/// Run, expect exit code 0, and give the line on stdout.
fn answer(args: &[&str]) -> String {
    let output = run(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
    assert!(output.stderr.is_empty(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().strip_suffix('\n').unwrap().to_owned()
}

/// Run, expect exit code 2, nothing on stdout and something on stderr, which is given.
fn refusal(args: &[&str]) -> String {
    let output = run(args);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
    assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{args:?}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Feed lines to `kurz SUBCOMMAND --stdin`, expect exit code 0, and give the lines that come back.
fn answers(subcommand: &str, lines: Vec<String>) -> Vec<Value> {
    let mut child = kurz(&[subcommand, "--stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let feeder = thread::spawn(move || {
        for line in lines {
            stdin.write_all(line.as_bytes()).unwrap();
            stdin.write_all(b"\n").unwrap();
        }
    });
    let mut output = String::new();
    child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
    feeder.join().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    output.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn assert_error(answer: &Value, about: &Value) {
    let code = answer["error"].as_str().unwrap_or_else(|| panic!("{about} gave {answer}"));
    assert!(!code.is_empty() && answer.as_object().unwrap().len() == 1, "{about} gave {answer}");
}

#[test]
fn canon_gives_every_canonical_form_of_the_vectors() {
    let vectors = vectors("canonical");
    let lines = vectors.iter().map(|vector| vector["input"].to_string()).collect();
    let by_line = answers("canon", lines);
    assert_eq!(by_line.len(), vectors.len());
    for (vector, line) in vectors.iter().zip(by_line) {
        let (input, canonical) = (text(vector, "input"), text(vector, "canonical"));
        assert_eq!(line, json!({"ok": canonical}), "{vector}");
        // No argument of a process holds a NUL.
        if !input.contains('\0') {
            assert_eq!(answer(&["canon", input]), canonical, "{vector}");
        }
    }
}

#[test]
fn canon_refuses_every_rejected_url_of_the_vectors() {
    let vectors = vectors("rejected");
    let lines = vectors.iter().map(|vector| vector["input"].to_string()).collect();
    let by_line = answers("canon", lines);
    assert_eq!(by_line.len(), vectors.len());
    for (vector, line) in vectors.iter().zip(by_line) {
        assert_error(&line, vector);
        match vector["input"].as_str() {
            None => assert_eq!(line, json!({"error": "url-not-text"})),
            Some(input) if input.contains('\0') => {}
            Some(input) => {
                let said = refusal(&["canon", input]);
                assert!(said.starts_with("error: ") && said.trim_end().ends_with('.'), "{said}");
                assert_eq!(said.lines().count(), 1, "{said}");
            }
        }
    }
}

#[test]
fn code_gives_every_deterministic_code_of_the_vectors() {
    let mut cases: Vec<(String, String, u64, String)> = Vec::new();
    for vector in vectors("deterministic") {
        let [url, workspace, code] =
            ["url", "workspace", "code"].map(|field| text(&vector, field).to_owned());
        cases.push((url, workspace, vector["salt"].as_u64().unwrap(), code));
    }
    for vector in vectors("salt_chain") {
        for (attempt, code) in (0..).zip(vector["codes"].as_array().unwrap()) {
            let [url, workspace] =
                ["url", "workspace"].map(|field| text(&vector, field).to_owned());
            cases.push((url, workspace, attempt, code.as_str().unwrap().to_owned()));
        }
    }
    let line = |(url, workspace, attempt, _): &(String, String, u64, String)| {
        json!({"url": url, "workspace": workspace, "attempt": attempt}).to_string()
    };
    let by_line = answers("code", cases.iter().map(line).collect());
    assert_eq!(by_line.len(), cases.len());
    for ((url, workspace, attempt, code), line) in cases.iter().zip(by_line) {
        assert_eq!(line, json!({"ok": code}), "{url} {workspace} {attempt}");
        let attempt = attempt.to_string();
        let args = ["code", url, "--workspace", workspace, "--attempt", &attempt];
        assert_eq!(&answer(&args), code, "{args:?}");
        if attempt == "0" {
            assert_eq!(&answer(&args[..4]), code, "{args:?}");
        }
    }
}

/// A vector of counter codes as a line, with the numbers as text or as numbers.
fn counter_line(vector: &Value, as_numbers: bool) -> String {
    let number = |field: &str| -> Value {
        let digits = text(vector, field);
        if as_numbers { digits.parse::<u64>().unwrap().into() } else { digits.into() }
    };
    let (counter, mult) = (number("counter"), number("mult"));
    let (salt, length) = (&vector["salt"], &vector["length"]);
    json!({"counter": counter, "salt": salt, "mult": mult, "length": length}).to_string()
}

fn counter_args(vector: &Value) -> [String; 8] {
    let [counter, salt, mult] = ["counter", "salt", "mult"].map(|field| text(vector, field));
    let length = vector["length"].to_string();
    ["counter-code", counter, "--salt", salt, "--mult", mult, "--length", &length]
        .map(str::to_owned)
}

#[test]
fn counter_code_gives_every_code_of_the_vectors() {
    let vectors = vectors("counter");
    let as_text = answers("counter-code", vectors.iter().map(|v| counter_line(v, false)).collect());
    let as_numbers =
        answers("counter-code", vectors.iter().map(|v| counter_line(v, true)).collect());
    assert_eq!(as_text.len(), vectors.len());
    assert_eq!(as_text, as_numbers);
    for (vector, line) in vectors.iter().zip(as_text) {
        let code = text(vector, "code");
        assert_eq!(line, json!({"ok": code}), "{vector}");
        let args = counter_args(vector);
        assert_eq!(answer(&args.each_ref().map(String::as_str)), code, "{vector}");
    }
}

#[test]
fn counter_code_refuses_every_rejected_setting_of_the_vectors() {
    let vectors = vectors("counter_rejected");
    let by_line = answers("counter-code", vectors.iter().map(|v| counter_line(v, false)).collect());
    assert_eq!(by_line.len(), vectors.len());
    for (vector, line) in vectors.iter().zip(by_line) {
        assert_error(&line, vector);
        let args = counter_args(vector);
        refusal(&args.each_ref().map(String::as_str));
    }
}

#[test]
fn both_scramblers_answer_and_differ() {
    let salted = ["counter-code", "123", "--salt", "unit_test_salt", "--scramble"];
    let code = |scramble| answer(&[&salted[..], &[scramble]].concat());
    assert_eq!(code("affine"), "0ilAMe2");
    assert_ne!(code("feistel"), code("affine"));
    assert_eq!(code("feistel").len(), 7);
    let line = json!({"counter": 123, "salt": "unit_test_salt", "scramble": "feistel"});
    let by_line = answers("counter-code", vec![line.to_string()]);
    assert_eq!(by_line, [json!({"ok": code("feistel")})]);
}

#[test]
fn wrong_usage_ends_with_two_and_help_with_zero() {
    let wrong: [&[&str]; 14] = [
        &[],
        &["nonsense"],
        &["canon"],
        &["canon", "http://a/", "--stdin"],
        &["canon", "--nonsense"],
        &["code", "http://a/"],
        &["code", "http://a/", "--workspace", "a b"],
        &["code", "--workspace", "a", "--stdin"],
        &["code", "http://a/", "--workspace", "a", "--attempt", "-1"],
        &["counter-code", "5"],
        &["counter-code", "-5", "--salt", "s"],
        &["counter-code", "five", "--salt", "s"],
        &["counter-code", "5", "--salt", "s", "--scramble", "xor"],
        &["counter-code", "5", "--salt", "s", "--length", "22"],
    ];
    for args in wrong {
        refusal(args);
    }
    for args in [&["--help"][..], &["--version"], &["help", "code"], &["counter-code", "--help"]] {
        assert!(!answer(args).is_empty(), "{args:?}");
    }
}

#[test]
fn every_shell_gets_a_completion_script() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(answer(&["completions", shell]).contains("counter-code"), "{shell}");
    }
}

#[test]
fn bad_lines_are_answered_in_their_place_and_the_rest_goes_on() {
    let lines = ["\"http://a/\"", "not json", "", "7", "\"http://b\""].map(str::to_owned);
    let expected = [
        json!({"ok": "http://a/"}),
        json!({"error": "line-not-json"}),
        json!({"error": "line-not-json"}),
        json!({"error": "url-not-text"}),
        json!({"ok": "http://b/"}),
    ];
    assert_eq!(answers("canon", lines.to_vec()), expected);
}

#[test]
fn a_pipe_that_closes_early_ends_the_run_quietly() {
    let mut child = kurz(&["canon", "--stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    let line = b"\"http://example.com/\"\n".repeat(1000);
    // The program stops reading once nobody listens: then this write fails, as it should.
    while stdin.write_all(&line).is_ok() {}
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}
