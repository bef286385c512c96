//! Debian's Chromium, driven by its own driver: each test has one of its own, in a folder of its
//! own. It never waits for a while; it asks until something is so, or fails.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;
use thirtyfour::prelude::*;
use tokio::time::Instant;

/// How long something may take to become so. Only a failing test waits that long.
const PATIENCE: Duration = Duration::from_mins(1);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(30);

/// What somebody looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Screen {
    Desk,
    Phone,
}

/// Each flow on both screens: `name::at_a_desk` and `name::on_a_phone`.
macro_rules! on_both_screens {
    ($($name:ident),+ $(,)?) => {$(
        mod $name {
            use crate::browser::Screen;

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn at_a_desk() {
                super::$name(Screen::Desk).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_a_phone() {
                super::$name(Screen::Phone).await;
            }
        }
    )+};
}
pub(super) use on_both_screens;

/// A browser.
pub(super) struct Browser {
    // In the order in which they must end.
    pub(super) driver: WebDriver,
    _process: Driver,
    _folder: TempDir,
    base: String,
}

/// The driver's process, and what it started.
struct Driver(Child);

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        let _ = self.0.wait();
    }
}

impl Browser {
    /// A browser that looks at the server at `base`, in English.
    pub(super) async fn open(base: &str, screen: Screen) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut process = Command::new("chromedriver")
            .arg("--port=0")
            .env("HOME", folder.path())
            .env("TMPDIR", folder.path())
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("run ./scripts/test, which brings chromedriver");
        let output = process.stdout.take().unwrap();
        let process = Driver(process);
        let port = BufReader::new(output).lines().find_map(|line| {
            let line = line.ok()?;
            let (_, port) = line.split_once("started successfully on port ")?;
            port.trim_end_matches('.').parse::<u16>().ok()
        });
        let port = port.expect("chromedriver says where it is");
        let mut chrome = DesiredCapabilities::chrome();
        let profile = format!("--user-data-dir={}", folder.path().join("profile").display());
        for arg in [
            "--headless=new",
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--disable-gpu",
            "--hide-scrollbars",
            "--force-device-scale-factor=1",
            "--window-size=1280,900",
            "--lang=en-US",
            "--no-proxy-server",
            profile.as_str(),
        ] {
            chrome.add_arg(arg).unwrap();
        }
        let driver = WebDriver::new(format!("http://127.0.0.1:{port}"), chrome).await.unwrap();
        let browser = Self { driver, _process: process, _folder: folder, base: base.to_owned() };
        browser.fit(screen).await;
        browser
    }

    pub(super) async fn close(self) {
        self.driver.quit().await.unwrap();
    }

    /// Go to a path of the server.
    pub(super) async fn go(&self, path: &str) {
        self.driver.goto(format!("{}{path}", self.base)).await.unwrap();
    }

    /// The path and query of the page.
    pub(super) async fn path(&self) -> String {
        let url = self.driver.current_url().await.unwrap();
        url.as_str().strip_prefix(&self.base).unwrap_or(url.as_str()).to_owned()
    }

    /// Ask until the page is at a path that begins with `start`.
    pub(super) async fn at(&self, start: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.path().await.starts_with(start) {
            assert!(Instant::now() < deadline, "{} is not {start}", self.path().await);
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// The first element of a selector, once it is there and can be seen.
    pub(super) async fn see(&self, selector: &str) -> WebElement {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Ok(found) = self.driver.find(By::Css(selector)).await
                && found.is_displayed().await.unwrap_or(false)
            {
                return found;
            }
            if Instant::now() >= deadline {
                let source = self.driver.source().await.unwrap_or_default();
                panic!("{selector} is not to be seen on {}:\n{source}", self.path().await);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Ask until the page's text holds `text`.
    pub(super) async fn read(&self, text: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let shown = self.script("return document.body.innerText").await;
            if shown.as_str().is_some_and(|shown| shown.contains(text)) {
                return;
            }
            assert!(Instant::now() < deadline, "no `{text}` in:\n{shown}");
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Fill in a field.
    pub(super) async fn fill(&self, selector: &str, text: &str) {
        let field = self.see(selector).await;
        field.clear().await.unwrap();
        field.send_keys(text).await.unwrap();
    }

    pub(super) async fn click(&self, selector: &str) {
        let button = self.see(selector).await;
        button.scroll_into_view().await.unwrap();
        button.click().await.unwrap();
    }

    /// What a script says.
    pub(super) async fn script(&self, script: &str) -> Value {
        let said = self.driver.execute(script, Vec::<Value>::new()).await.unwrap();
        said.json().clone()
    }

    /// Ask until a script says `true`.
    pub(super) async fn until(&self, script: &str) {
        let deadline = Instant::now() + PATIENCE;
        while self.script(&format!("return Boolean({script})")).await != json!(true) {
            assert!(Instant::now() < deadline, "not so: {script} on {}", self.path().await);
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// A command of the browser's own protocol.
    pub(super) async fn tell(&self, command: &str, params: Value) -> Value {
        self.driver.cdp().send_raw(command, params).await.unwrap()
    }

    /// Make the window as large as `screen`.
    pub(super) async fn fit(&self, screen: Screen) {
        let (width, height) = match screen {
            Screen::Desk => (1280, 900),
            Screen::Phone => (390, 844),
        };
        let params = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
        });
        self.tell("Emulation.setDeviceMetricsOverride", params).await;
    }

    /// `light` or `dark`, and no motion.
    pub(super) async fn scheme(&self, scheme: &str) {
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        self.tell("Emulation.setEmulatedMedia", json!({ "features": features })).await;
    }

    /// From the next page on, no script of a page runs.
    pub(super) async fn without_scripts(&self) {
        self.tell("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await;
    }

    /// The whole page as a picture, into the folder that is not committed.
    pub(super) async fn picture(&self, name: &str) {
        self.keep(name, json!({ "format": "png", "captureBeyondViewport": true })).await;
    }

    /// The top of the page in small: the README's pictures are made here.
    pub(super) async fn small_picture(&self, name: &str, height: u32) {
        let clip = json!({ "x": 0, "y": 0, "width": 1280, "height": height, "scale": 0.6 });
        let params = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        self.keep(name, params).await;
    }

    async fn keep(&self, name: &str, params: Value) {
        let shot = self.tell("Page.captureScreenshot", params).await;
        let bytes = base64_decode(shot["data"].as_str().unwrap());
        let folder = pictures();
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{name}.png")), bytes).unwrap();
    }

    /// Register over the pages.
    pub(super) async fn register(&self, name: &str) {
        self.go("/register").await;
        self.fill("#email", &kurz_test_support::accounts::email(name)).await;
        self.fill("#name", name).await;
        self.fill("#password", kurz_test_support::accounts::PASSWORD).await;
        self.click("main form button").await;
        self.at("/app/").await;
    }

    /// Fill in the form for signing in, and send it.
    pub(super) async fn sign_in(&self, name: &str, password: &str) {
        self.go("/login").await;
        self.fill("#email", &kurz_test_support::accounts::email(name)).await;
        self.fill("#password", password).await;
        self.click("main form button").await;
    }

    /// From the next page on, write down what a page must not do: open a dialog, or break its policy.
    pub(super) async fn watch(&self) {
        let watch = "window.__broken = []; document.addEventListener('securitypolicyviolation', \
             (event) => window.__broken.push(event.blockedURI + ' ' + event.violatedDirective)); \
             window.alert = window.confirm = window.prompt = () => window.__broken.push('dialog');";
        self.tell("Page.enable", json!({})).await;
        self.tell("Page.addScriptToEvaluateOnNewDocument", json!({ "source": watch })).await;
    }

    /// What axe-core has against the page.
    pub(super) async fn faults(&self) -> String {
        let source =
            std::fs::read_to_string(axe()).expect("run ./scripts/test, which brings axe-core");
        self.driver.execute(source, Vec::<Value>::new()).await.unwrap();
        let run = "const done = arguments[arguments.length - 1]; \
                   axe.run().then((found) => done(found.violations), (error) => done(String(error)));";
        let found = self.driver.execute_async(run, Vec::<Value>::new()).await.unwrap();
        let found = found.json().clone();
        let mut faults = String::new();
        let violations = found.as_array().unwrap_or_else(|| panic!("axe failed: {found}"));
        for violation in violations {
            for node in violation["nodes"].as_array().unwrap() {
                let (id, html) = (&violation["id"], &node["html"]);
                writeln!(faults, "{id}: {html} {}", node["failureSummary"]).unwrap();
            }
        }
        faults
    }
}

fn axe() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/npm/node_modules/axe-core/axe.min.js")
}

/// Where pictures of pages go.
fn pictures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/screenshots")
}

fn base64_decode(text: &str) -> Vec<u8> {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.decode(text).unwrap()
}
