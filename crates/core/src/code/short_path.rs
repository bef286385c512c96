//! The path of a request, parsed as the address of a link.
//!
//! Pages are matched before, and the host of the request is not known here. Allocates nothing, since every
//! redirect runs it. Invariant: an address has one spelling. Escapes are not decoded and extra slashes
//! not ignored.

use super::is_name;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathTarget<'a> {
    /// `/{code}`: on the host of the request.
    Bare { code: &'a str },
    /// `/w/{workspace}/{code}`: in a workspace, by name.
    Workspace {
        /// `{workspace}/{code}`, as in the path: the key of a lookup.
        key: &'a str,
        workspace: &'a str,
        code: &'a str,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortPath<'a> {
    pub target: PathTarget<'a>,
    /// Whether a `+` at the end requests the preview page.
    pub preview: bool,
}

/// Parse the path of a request, without decoding; `None` when it is not the address of a link.
#[inline]
pub fn parse(path: &str) -> Option<ShortPath<'_>> {
    let path = path.strip_prefix('/')?;
    let (path, preview) = match path.strip_suffix('+') {
        Some(path) => (path, true),
        None => (path, false),
    };
    let target = match path.strip_prefix("w/") {
        Some(key) => {
            let (workspace, code) = key.split_once('/')?;
            (is_name(workspace) && is_name(code)).then_some(PathTarget::Workspace {
                key,
                workspace,
                code,
            })
        }
        None => is_name(path).then_some(PathTarget::Bare { code: path }),
    }?;
    Some(ShortPath { target, preview })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bare(code: &str, preview: bool) -> ShortPath<'_> {
        ShortPath { target: PathTarget::Bare { code }, preview }
    }

    #[test]
    fn codes_are_found_with_and_without_a_workspace() {
        assert_eq!(parse("/abc"), Some(bare("abc", false)));
        assert_eq!(parse("/abc+"), Some(bare("abc", true)));
        assert_eq!(parse("/w"), Some(bare("w", false)));
        assert_eq!(parse("/-_-"), Some(bare("-_-", false)));
        for (path, preview) in [("/w/team/abc", false), ("/w/team/abc+", true)] {
            let target = PathTarget::Workspace { key: "team/abc", workspace: "team", code: "abc" };
            assert_eq!(parse(path), Some(ShortPath { target, preview }));
        }
        let target = PathTarget::Workspace { key: "w/w", workspace: "w", code: "w" };
        assert_eq!(parse("/w/w/w"), Some(ShortPath { target, preview: false }));
    }

    // threats: B2
    #[test]
    fn anything_else_is_no_address() {
        let long = "a".repeat(65);
        let (long_code, long_workspace) = (format!("/{long}"), format!("/w/{long}/a"));
        for path in [
            "",
            "/",
            "abc",
            "//abc",
            "/abc/",
            "/abc/+",
            "/+",
            "/abc++",
            "/a+b",
            "/a/b",
            "/w/",
            "/w/a",
            "/w/a/",
            "/w//a",
            "/w/a/+",
            "/w/a/b/",
            "/w/a/b/c",
            "/w/a/b++",
            "/w/a+/b",
            "/W/a/b",
            "/%61bc",
            "/..",
            "/%2e%2e%2f",
            "/a%2Fb",
            "/a\\b",
            "/a;b",
            "/a.b",
            "/é",
            "/a b",
            "/a\0",
            "/a?b",
            "/abc%2B",
            &long_code,
            &long_workspace,
        ] {
            assert_eq!(parse(path), None, "{path:?}");
        }
    }

    #[test]
    fn the_longest_names_are_still_found() {
        let name = "a".repeat(64);
        let (code, workspace) = (format!("/{name}+"), format!("/w/{name}/{name}+"));
        assert_eq!(parse(&code), Some(bare(&name, true)));
        assert!(parse(&workspace).is_some_and(|path| path.preview));
    }

    proptest! {
        // threats: B2, B6
        #[test]
        fn an_address_has_one_spelling(path in "/?(w/)?[a-zA-Z0-9_/+%.-]{0,70}") {
            if let Some(ShortPath { target, preview }) = parse(&path) {
                let plus = if preview { "+" } else { "" };
                let spelling = match target {
                    PathTarget::Bare { code } => format!("/{code}{plus}"),
                    PathTarget::Workspace { key, workspace, code } => {
                        prop_assert_eq!(key, format!("{workspace}/{code}"));
                        format!("/w/{workspace}/{code}{plus}")
                    }
                };
                prop_assert_eq!(spelling, path);
            }
        }

        #[test]
        fn no_text_makes_it_panic(path in "\\PC*") {
            let _ = parse(&path);
        }
    }
}
