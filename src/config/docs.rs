//! Generates `docs/CONFIG.md` from the declarations of settings.
//!
//! Invariant: the committed page is up to date; a test compares them.

use std::fmt::Write;

use super::secret_file;
use super::sections;
use super::setting::{DocumentedDefault, Setting};

const HEAD: &str = "\
<!-- Generated from src/config: change the declarations there, then run
     UPDATE_DOCS=1 cargo test --lib config::docs -->

# Settings

A setting is given in the file, in the environment, or (some) on the command line. Later sources
win: defaults < file < environment < command line.

- File: `--config PATH`, else `KURZ_CONFIG`, else `kurz.toml` in the working directory if it
  exists. TOML with flat keys: `listen = \"127.0.0.1:8080\"`.
- Environment: `KURZ_` and the key in upper case: `KURZ_LISTEN=127.0.0.1:8080`.
- Command line: `kurz serve --listen 127.0.0.1:8080`; `kurz serve --help` lists the flags.

A setting that is unknown, of the wrong type or out of bounds stops the start with a sentence that
names it. Durations are a whole number with `ms`, `s`, `m`, `h` or `d`, or `0`; sizes are bytes, or
a whole number with `KiB`, `MiB` or `GiB`. `KURZ_URL` and `KURZ_API_KEY` belong to the subcommands
that talk to a server; `kurz serve` ignores them, and the variables that Kubernetes adds for a Service
named kurz (`KURZ_SERVICE_HOST`, `KURZ_PORT=tcp://…`).

A setting that may hold a secret can be read from a file instead: `KURZ_JWT_SECRET_FILE=/run/secrets/jwt`,
or `jwt_secret_file` in the settings file. The newline at the end does not count. The setting and its file
together are an error. [`deploy/kurz.toml`](../deploy/kurz.toml) is a sample of a settings file.
";

/// The page of all settings, in Markdown.
pub fn reference() -> String {
    let mut page = HEAD.to_owned();
    for (title, settings) in sections() {
        let _ = writeln!(page, "\n## {title}\n");
        page.push_str("| key | environment | default | accepts | what it does |\n");
        page.push_str("|---|---|---|---|---|\n");
        for setting in settings {
            page.push_str(&row(&setting));
        }
    }
    page
}

fn row(setting: &Setting) -> String {
    let default = match setting.default {
        DocumentedDefault::Value(text) => format!("`{text}`"),
        DocumentedDefault::Description(description) => description.to_owned(),
    };
    let Setting { key, accepts, doc, .. } = setting;
    let mut variable = format!("`{}`", setting.variable());
    if setting.is_secret {
        let _ = write!(variable, " or `{}{}`", setting.variable(), secret_file::SUFFIX);
    }
    format!("| `{key}` | {variable} | {default} | {accepts} | {doc} |\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_page_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/CONFIG.md");
        let page = reference();
        #[expect(clippy::disallowed_methods, reason = "a switch of this test, not a setting")]
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, &page).unwrap();
        }
        let committed = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            committed == page,
            "docs/CONFIG.md is out of date: run `UPDATE_DOCS=1 cargo test --lib config::docs`"
        );
    }

    #[test]
    fn no_cell_breaks_its_table() {
        for (_, settings) in sections() {
            for setting in settings {
                let row = row(&setting);
                assert_eq!(row.matches('|').count(), 6, "{row}");
                assert!(setting.doc.ends_with('.') && !setting.doc.contains('\n'), "{row}");
            }
        }
    }
}
