//! The kurz program as its users run it: a process with arguments, environment, a folder and signals.
//! It does not look inside. Every process ends with its value, and only processes from here are ever
//! signalled.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Resource, Signal, getrlimit, kill_process, setrlimit};

use crate::home::{Home, Kind};
use crate::http::Http;

/// How long a process may take to say something or to end. Only a failing test waits that long.
const PATIENCE: Duration = Duration::from_secs(30);

/// What to run. Each start of the same value runs in the same folder, so a second one is a restart on
/// the same files.
#[derive(Clone)]
pub struct Program {
    path: PathBuf,
    args: Vec<OsString>,
    env: Vec<(String, String)>,
    home: Arc<Home>,
}

impl Program {
    /// The kurz that was built with these tests, in an empty folder, without the caller's settings.
    pub fn kurz(args: &[&str]) -> Self {
        Self::new(kurz_path(), args, Arc::new(Home::new(Kind::Sqlite)))
    }

    /// `kurz serve` with `args`, on free ports: [`crate::Builder::process`] adds the settings.
    pub(crate) fn serve(args: &[&str], home: Arc<Home>) -> Self {
        let mut program = Self::new(kurz_path(), &["serve"], home);
        program.args.extend(args.iter().map(OsString::from));
        program.env("KURZ_LISTEN", "127.0.0.1:0").env("KURZ_ADMIN_LISTEN", "127.0.0.1:0")
    }

    fn new(path: PathBuf, args: &[&str], home: Arc<Home>) -> Self {
        let args = args.iter().map(OsString::from).collect();
        Self { path, args, env: Vec::new(), home }
    }

    /// With one more argument.
    #[must_use]
    pub fn arg(mut self, arg: &str) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Set an environment variable; the last word on a name counts.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Run it through another program, which ends by running its arguments in its own place.
    #[must_use]
    pub fn through(mut self, wrapper: &[&str]) -> Self {
        let (first, rest) = wrapper.split_first().expect("a wrapper has a name");
        let own = std::mem::replace(&mut self.path, first.into());
        let args = rest.iter().map(OsString::from).chain([own.into_os_string()]);
        self.args = args.chain(self.args).collect();
        self
    }

    /// The folder it runs in: where a relative path in its settings leads.
    pub fn folder(&self) -> &Path {
        self.home.folder()
    }

    /// Its folder and database.
    pub fn home(&self) -> &Arc<Home> {
        &self.home
    }

    /// Run it to its end with `input` as its standard input.
    pub fn run(&self, input: &str) -> Output {
        let mut child = self.command().stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().expect("it is piped");
        let input = input.to_owned();
        // From another thread, since the program may answer before it has read everything. A program
        // that ends without reading closes the pipe: its answer says what became of it.
        let writer = thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
        // A program that should end and does not must not hold up all tests.
        let (done, wait) = sync_channel::<()>(1);
        let pid = Pid::from_child(&child);
        let watch = thread::spawn(move || {
            let late = wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout);
            late.then(|| kill_process(pid, Signal::KILL))
        });
        let output = child.wait_with_output().unwrap();
        drop(done);
        writer.join().unwrap();
        let late = watch.join().unwrap().is_some();
        assert!(!late, "the program did not end within {PATIENCE:?}: {output:?}");
        output
    }

    /// Start it and wait until it says `listening on http://…`.
    pub fn start(&self) -> Process {
        let mut process = self.spawn();
        process.base_url = process.log.find_address("listening on ");
        process
    }

    fn spawn(&self) -> Process {
        let mut child = self.command().stdin(Stdio::null()).spawn().unwrap();
        let log = Arc::new(Log::default());
        log.follow(child.stdout.take().expect("it is piped"));
        log.follow(child.stderr.take().expect("it is piped"));
        Process { child, log, base_url: String::new(), program: self.clone() }
    }

    /// Start it, if it starts; otherwise how it ended, and all that it wrote.
    pub fn try_start(&self) -> Result<Process, (ExitStatus, String)> {
        let (mut process, label) = (self.spawn(), "listening on ");
        match process.log.look_for(&format!("{label}http")) {
            Ok(line) => {
                process.base_url = address_in(&line, label);
                Ok(process)
            }
            Err((ended, log)) => {
                assert!(ended, "the program runs on without listening; it wrote:\n{log}");
                Err((process.child.wait().unwrap(), log))
            }
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("KURZ_") {
                command.env_remove(name);
            }
        }
        command.args(&self.args).envs(self.env.iter().map(|(name, value)| (name, value)));
        command.current_dir(self.home.folder()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// A running server.
pub struct Process {
    child: Child,
    log: Arc<Log>,
    base_url: String,
    program: Program,
}

impl Process {
    /// `http://host:port` of the main listener.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// `host:port` of the main listener.
    pub fn address(&self) -> SocketAddr {
        self.base_url.trim_start_matches("http://").parse().unwrap()
    }

    /// The memory it has, in MB.
    pub fn memory_mb(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1024.0
    }

    /// `http://host:port` of the admin listener.
    pub fn admin_url(&self) -> String {
        self.log.find_address("admin on ")
    }

    /// A client of it.
    pub fn http(&self) -> Http {
        Http::new(&self.base_url)
    }

    /// A client of its admin address.
    pub fn admin(&self) -> Http {
        Http::new(&self.admin_url())
    }

    /// How it was started.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Its folder and database.
    pub fn home(&self) -> &Arc<Home> {
        &self.program.home
    }

    /// What it has written so far, standard output and standard error as they came.
    pub fn log(&self) -> String {
        self.log.state.lock().unwrap().text()
    }

    /// Wait until it has written a line that contains `text`; that line.
    pub fn wait_for_log(&self, text: &str) -> String {
        self.log.wait_for(text)
    }

    /// The number the system knows it by.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Stop it where it stands, as a machine does that is suspended.
    pub fn freeze(&self) {
        kill_process(Pid::from_child(&self.child), Signal::STOP).unwrap();
    }

    /// Let it go on after [`Process::freeze`]; it has not noticed anything.
    pub fn thaw(&self) {
        kill_process(Pid::from_child(&self.child), Signal::CONT).unwrap();
    }

    /// End it the hard way: it gets no chance to write anything down. What it gives back starts it
    /// again.
    pub fn kill_9(mut self) -> Program {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.program.clone()
    }

    /// Ask it to end, and expect that it ends well. What it gives back starts it again.
    pub fn stop(self) -> Program {
        let program = self.program.clone();
        let (status, log) = self.terminate();
        assert!(status.success(), "it ended with {status}; it wrote:\n{log}");
        program
    }

    /// Stop it, and start it again on the same store.
    pub fn restart(self) -> Self {
        self.stop().start()
    }

    /// Ask it to end (SIGTERM), wait, and give its exit status and all that it wrote.
    pub fn terminate(mut self) -> (ExitStatus, String) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        let log = self.log.wait_for_end();
        (self.child.wait().unwrap(), log)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // An error says that it has ended and was waited for already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("what the server wrote:\n{}", self.log.state.lock().unwrap().text());
        }
    }
}

/// The lines of both outputs, and a bell for those who wait for one.
#[derive(Default)]
struct Log {
    state: Mutex<Lines>,
    changed: Condvar,
}

#[derive(Default)]
struct Lines {
    lines: Vec<String>,
    ended_outputs: usize,
}

impl Lines {
    const OUTPUTS: usize = 2;

    fn text(&self) -> String {
        self.lines.iter().fold(String::new(), |mut text, line| {
            let _ = writeln!(text, "{line}");
            text
        })
    }

    fn ended(&self) -> bool {
        self.ended_outputs == Self::OUTPUTS
    }

    fn find(&self, text: &str) -> Option<&String> {
        self.lines.iter().find(|line| line.contains(text))
    }
}

impl Log {
    fn follow(self: &Arc<Self>, output: impl Read + Send + 'static) {
        let log = Arc::clone(self);
        thread::spawn(move || {
            for line in BufReader::new(output).split(b'\n') {
                let Ok(line) = line else { break };
                log.state.lock().unwrap().lines.push(String::from_utf8_lossy(&line).into_owned());
                log.changed.notify_all();
            }
            log.state.lock().unwrap().ended_outputs += 1;
            log.changed.notify_all();
        });
    }

    fn wait_for(&self, text: &str) -> String {
        self.look_for(text).unwrap_or_else(|(ended, log)| {
            let what = if ended { "the program ended" } else { "the program runs on" };
            panic!("{what} without saying `{text}`; it wrote:\n{log}");
        })
    }

    /// A line that contains `text`; otherwise whether the program has ended, and what it wrote. The
    /// lock is free again by then: `Drop` prints the log of a program whose test panics.
    fn look_for(&self, text: &str) -> Result<String, (bool, String)> {
        let state = self.state.lock().unwrap();
        let silent = |state: &mut Lines| state.find(text).is_none() && !state.ended();
        let (state, _) = self.changed.wait_timeout_while(state, PATIENCE, silent).unwrap();
        state.find(text).cloned().ok_or_else(|| (state.ended(), state.text()))
    }

    fn wait_for_end(&self) -> String {
        let state = self.state.lock().unwrap();
        let (state, _) =
            self.changed.wait_timeout_while(state, PATIENCE, |state| !state.ended()).unwrap();
        let (ended, log) = (state.ended(), state.text());
        drop(state);
        assert!(ended, "the program runs on {PATIENCE:?} after SIGTERM; it wrote:\n{log}");
        log
    }

    /// The address after `label`, in whatever line and format it stands.
    fn find_address(&self, label: &str) -> String {
        address_in(&self.wait_for(&format!("{label}http")), label)
    }
}

/// Let this process have as many descriptors as the system allows, which must be at least `needed`.
pub fn raise_descriptors(needed: u64) {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
    let enough = limit.maximum.is_none_or(|most| most >= needed);
    assert!(enough, "{needed} descriptors are needed: raise the hard limit (ulimit -Hn)");
}

/// Cargo puts the program beside the folder of the tests and benches that it builds with it.
fn kurz_path() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let folder = own.parent().and_then(Path::parent).expect("cargo's `deps` folder");
    folder.join("kurz")
}

fn address_in(line: &str, label: &str) -> String {
    let (_, rest) = line.split_once(label).expect("the line has the label");
    let end = rest.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(rest.len());
    rest[..end].trim_end_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    // A shell stands in for the server: what is tested here is the harness.
    fn shell(script: &str) -> Program {
        Program::new("/bin/sh".into(), &["-c", script], Arc::new(Home::new(Kind::Sqlite)))
    }

    const SERVER: &str = r#"
        trap 'echo bye; exit 3' TERM
        echo "$GREETING" >&2
        echo '{"message":"admin on http://127.0.0.1:2/"}' >&2
        echo started >>starts
        echo listening on http://127.0.0.1:1
        while :; do sleep 0.01; done
    "#;

    #[test]
    fn a_server_tells_its_addresses_and_ends_when_asked() {
        let program = shell(SERVER).env("GREETING", "hello");
        let server = program.start();
        assert_eq!(server.base_url(), "http://127.0.0.1:1");
        assert_eq!(server.admin_url(), "http://127.0.0.1:2");
        assert_eq!(server.wait_for_log("hell"), "hello");
        assert!(server.log().contains("hello\n"));
        let (status, log) = server.terminate();
        assert_eq!(status.code(), Some(3));
        assert!(log.ends_with("bye\n"), "what it says at the end is there as well: {log}");
    }

    #[test]
    fn a_second_start_finds_the_files_of_the_first() {
        let program = shell(SERVER);
        program.start().kill_9();
        program.start().kill_9();
        let starts = std::fs::read_to_string(program.folder().join("starts")).unwrap();
        assert_eq!(starts, "started\nstarted\n");
    }

    #[test]
    fn a_program_that_ends_early_fails_the_test_with_its_words() {
        let start = std::panic::catch_unwind(|| shell("echo no such store >&2; exit 1").start());
        let panic = start.err().expect("it never listened");
        let message = panic.downcast_ref::<String>().unwrap();
        assert!(message.contains("the program ended without saying"), "{message}");
        assert!(message.contains("no such store"), "{message}");
    }

    #[test]
    fn a_run_takes_standard_input_and_gives_everything_back() {
        let output = shell("cat; echo oh >&2; exit 2").run("in\n");
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(
            (output.stdout.as_slice(), output.stderr.as_slice()),
            (&b"in\n"[..], &b"oh\n"[..])
        );
    }

    #[test]
    fn kurz_starts_without_the_settings_of_the_machine() {
        let program = Program::serve(&["--open"], Arc::new(Home::new(Kind::Sqlite)));
        let command = program.command();
        assert!(command.get_program().to_str().unwrap().ends_with("/kurz"));
        assert!(command.get_args().eq(["serve", "--open"]));
        let port = command.get_envs().find(|(name, _)| *name == "KURZ_LISTEN").unwrap().1;
        assert_eq!(port.unwrap(), "127.0.0.1:0");
    }
}
