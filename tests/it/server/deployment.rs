//! kurz under the conditions of the files in `deploy/`: the filter of system calls of the systemd unit, and
//! the environment of a Kubernetes pod.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use kurz_test_support::{Program, TestServer};
use serde_json::json;

const UNIT: &str = include_str!("../../../deploy/kurz.service");
const MANIFEST: &str = include_str!("../../../deploy/kubernetes/kurz.yaml");
const GROUPS: &str = include_str!("syscall-groups.txt");

/// Takes a filter and two numbers of system calls, puts the filter over itself, and becomes the program
/// in the other arguments. Perl is part of every Debian.
const LAUNCHER: &str = r#"
    my ($file, $prctl, $seccomp) = splice(@ARGV, 0, 3);
    open(my $in, "<:raw", $file) or die "$file: $!";
    my $filter = do { local $/; <$in> };
    syscall($prctl + 0, 38, 1, 0, 0, 0) == 0 or die "no_new_privs: $!";
    my $program = pack("S x6 P", length($filter) / 8, $filter);
    syscall($seccomp + 0, 1, 0, $program) == 0 or die "seccomp: $!";
    exec(@ARGV) or die "exec: $!";
"#;

/// The numbers of this machine's system calls, from the C library's headers.
fn numbers() -> BTreeMap<String, u32> {
    let mut cc = Command::new("cc")
        .args(["-E", "-dM", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    cc.stdin.take().unwrap().write_all(b"#include <asm/unistd.h>\n").unwrap();
    let defined = String::from_utf8(cc.wait_with_output().unwrap().stdout).unwrap();
    let numbers: BTreeMap<String, u32> = defined
        .lines()
        .filter_map(|line| line.strip_prefix("#define __NR_")?.split_once(' '))
        .filter_map(|(name, number)| Some((name.to_owned(), number.parse().ok()?)))
        .collect();
    assert!(numbers.len() > 200, "{defined}");
    numbers
}

/// The system calls of a group, or of one name.
fn expand(name: &str, into: &mut BTreeSet<String>) {
    if !name.starts_with('@') {
        into.insert(name.to_owned());
        return;
    }
    let members = GROUPS.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let members = members.unwrap_or_else(|| panic!("{name} is not in syscall-groups.txt: add it"));
    members.split(' ').for_each(|member| expand(member, into));
}

/// What a unit allows: systemd takes the lines in their order, and its own defaults besides.
fn allowed(unit: &str) -> BTreeSet<String> {
    let mut allowed = BTreeSet::new();
    expand("@default", &mut allowed);
    for line in unit.lines().filter_map(|line| line.strip_prefix("SystemCallFilter=")) {
        let (names, is_allowed) =
            line.strip_prefix('~').map_or((line, true), |names| (names, false));
        let mut calls = BTreeSet::new();
        names.split_whitespace().for_each(|name| expand(name, &mut calls));
        if is_allowed {
            allowed.extend(calls);
        } else {
            allowed.retain(|name| !calls.contains(name));
        }
    }
    allowed
}

/// A filter that ends the process at every other call. The unit only refuses such a call; so strict a
/// filter shows that kurz makes none.
fn filter(allowed: &BTreeSet<String>, numbers: &BTreeMap<String, u32>) -> Vec<u8> {
    const LOAD: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    let mut program = Vec::new();
    let mut add = |code: u16, if_not: u8, value: u32| {
        program.extend(code.to_ne_bytes());
        program.extend([0, if_not]);
        program.extend(value.to_ne_bytes());
    };
    add(LOAD, 0, 0);
    for number in allowed.iter().filter_map(|name| numbers.get(name)) {
        add(JUMP_IF_EQUAL, 1, *number);
        add(RETURN, 0, 0x7fff_0000);
    }
    add(RETURN, 0, 0x8000_0000);
    program
}

/// The server under the filter of `unit`.
fn under(unit: &str, name: &str) -> Program {
    let numbers = numbers();
    let program = TestServer::builder().process();
    let file: PathBuf = program.folder().join(name);
    std::fs::write(&file, filter(&allowed(unit), &numbers)).unwrap();
    let (prctl, seccomp) = (numbers["prctl"].to_string(), numbers["seccomp"].to_string());
    let folder = program.folder().to_owned();
    let launcher = ["perl", "-e", LAUNCHER, file.to_str().unwrap(), &prctl, &seccomp];
    let program = program.through(&launcher);
    if !rustix::process::geteuid().is_root() {
        return program;
    }
    // The unit's user is none of the system's, and so no file changes its owner.
    std::os::unix::fs::chown(&folder, Some(65_534), Some(65_534)).unwrap();
    program.through(&["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
}

#[tokio::test(flavor = "multi_thread")]
async fn the_systemd_unit_allows_every_system_call_that_kurz_makes() {
    let server = under(UNIT, "filter").start();
    let http = server.http();
    let body = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    http.post("/api/v1/links", &body).await.expect(201);
    http.get("/promo").await.expect(302);
    http.get("/readyz").await.expect(200);
    let account = json!({ "email": "ada@example.com", "password": "a long password" });
    let made = http.post("/api/v1/auth/register", &account).await;
    assert!(made.status < 500, "{}", made.text());
    server.stop();
}

#[test]
fn the_filter_of_the_test_ends_a_server_whose_unit_allows_too_little() {
    let unit = format!("{UNIT}\nSystemCallFilter=~@resources\n");
    let Err((status, log)) = under(&unit, "filter").try_start() else {
        panic!("lowering the priority of password threads is a call of @resources");
    };
    assert_eq!(status.code(), None, "ended by a signal: {log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_kubernetes_adds_for_a_service_named_kurz_does_not_stop_the_start() {
    let variables = [
        ("KURZ_SERVICE_HOST", "10.96.0.17"),
        ("KURZ_SERVICE_PORT", "80"),
        ("KURZ_SERVICE_PORT_HTTP", "80"),
        ("KURZ_PORT", "tcp://10.96.0.17:80"),
        ("KURZ_PORT_80_TCP", "tcp://10.96.0.17:80"),
        ("KURZ_PORT_80_TCP_PROTO", "tcp"),
        ("KURZ_PORT_80_TCP_PORT", "80"),
        ("KURZ_PORT_80_TCP_ADDR", "10.96.0.17"),
    ];
    let program = TestServer::builder().process();
    let program = variables.iter().fold(program, |program, (name, text)| program.env(name, text));
    let server = program.start();
    server.http().get("/healthz").await.expect(200);
    assert!(MANIFEST.contains("enableServiceLinks: false"), "and they are not asked for");
}
