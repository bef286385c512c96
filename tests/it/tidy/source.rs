//! A Rust file as tidy's rules see it: the paths it names and the strings it holds. It knows no rule.
//! What it reads are tokens, so a comment never counts as code; and the code that ships, so tests
//! inside a file (`#[cfg(test)]`, `tests.rs`) may name what the code around them may not.

use std::str::FromStr as _;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Where the sources of `kurz-core` are.
const CORE: &str = "crates/core/src/";

/// One file, by its path from the top of the repository.
pub(super) struct Source {
    pub(super) path: String,
    pub(super) text: String,
    tokens: Vec<TokenTree>,
}

/// Something found in a file, and where.
#[derive(Debug, PartialEq)]
pub(super) struct At<T> {
    pub(super) line: usize,
    pub(super) what: T,
}

/// `a::b::c`, one segment each.
pub(super) type Path = Vec<String>;

impl Source {
    pub(super) fn new(path: &str, text: &str) -> Self {
        let tokens = TokenStream::from_str(text)
            .unwrap_or_else(|error| panic!("{path} does not read as Rust: {error}"));
        Self { path: path.to_owned(), text: text.to_owned(), tokens: tokens.into_iter().collect() }
    }

    /// Whether it belongs to the library `kurz-core`.
    pub(super) fn is_core(&self) -> bool {
        self.path.starts_with(CORE)
    }

    /// The folder or file right under `src` of `kurz` or `kurz-core` that it belongs to, and how many
    /// modules deep it lies.
    pub(super) fn module(&self) -> Option<(&str, usize)> {
        let inside = self.path.strip_prefix(CORE).or_else(|| self.path.strip_prefix("src/"))?;
        let inside = inside.strip_suffix(".rs")?;
        let inside = inside.strip_suffix("/mod").unwrap_or(inside);
        let top = inside.split('/').next()?;
        Some((top, inside.split('/').count()))
    }

    /// Every path that the shipped code names, with the groups of `use` spread out. Keywords are paths
    /// of one segment.
    pub(super) fn paths(&self) -> Vec<At<Path>> {
        let mut found = Vec::new();
        if !self.is_test() {
            paths_in(&shipped(&self.tokens), &mut found);
        }
        found
    }

    /// Every string of the shipped code as it is written; documentation is not among them.
    pub(super) fn strings(&self) -> Vec<At<String>> {
        let mut found = Vec::new();
        if !self.is_test() {
            strings_in(&shipped(&self.tokens), &mut found);
        }
        found
    }

    /// Every type and trait that the shipped code of `src` names for its module: none inside functions,
    /// implementations and macros.
    pub(super) fn types(&self) -> Vec<At<String>> {
        let mut found = Vec::new();
        if !self.is_test() && self.module().is_some() {
            types_in(&shipped(&self.tokens), &mut found);
        }
        found
    }

    /// Every macro called and every attribute, tests included: `todo!`, `#ignore`.
    pub(super) fn macros_and_attributes(&self) -> Vec<At<String>> {
        let mut found = Vec::new();
        marks_in(&self.tokens, &mut found);
        found
    }

    fn is_test(&self) -> bool {
        self.path.split(['/', '.']).any(|part| part == "tests")
    }
}

fn line(token: &TokenTree) -> usize {
    token.span().start().line
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

fn children(token: &TokenTree, delimiter: Delimiter) -> Option<Vec<TokenTree>> {
    match token {
        TokenTree::Group(group) if group.delimiter() == delimiter => {
            Some(group.stream().into_iter().collect())
        }
        _ => None,
    }
}

/// `tokens` without attributes and without the items that only tests see.
fn shipped(tokens: &[TokenTree]) -> Vec<TokenTree> {
    let mut kept = Vec::new();
    let mut rest = tokens;
    while let Some((token, after)) = rest.split_first() {
        rest = after;
        let bang = usize::from(is_punct(token, '#') && after.first().is_some_and(is_bang));
        let attribute = after.get(bang).and_then(|token| children(token, Delimiter::Bracket));
        let (true, Some(attribute)) = (is_punct(token, '#'), attribute) else {
            kept.push(token.clone());
            continue;
        };
        rest = after.get(bang + 1..).unwrap_or_default();
        if is_cfg_test(&attribute) {
            // The item ends with its body or its semicolon, whichever comes first.
            let ends = |token: &TokenTree| {
                is_punct(token, ';') || children(token, Delimiter::Brace).is_some()
            };
            let end = rest.iter().position(ends).map_or(rest.len(), |end| end + 1);
            rest = rest.get(end..).unwrap_or_default();
        }
    }
    kept
}

fn is_bang(token: &TokenTree) -> bool {
    is_punct(token, '!')
}

fn is_cfg_test(attribute: &[TokenTree]) -> bool {
    let text = attribute.iter().map(ToString::to_string).collect::<String>();
    text == "cfg(test)"
}

fn paths_in(tokens: &[TokenTree], found: &mut Vec<At<Path>>) {
    let mut rest = tokens;
    while let Some((token, after)) = rest.split_first() {
        rest = after;
        match token {
            TokenTree::Ident(ident) => {
                rest = follow(vec![ident.to_string()], line(token), after, found);
            }
            TokenTree::Group(group) => {
                let inside = group.stream().into_iter().collect::<Vec<_>>();
                paths_in(&shipped(&inside), found);
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Lengthen `path` as far as `::` leads; what is left after it.
fn follow<'t>(
    mut path: Path,
    line: usize,
    mut rest: &'t [TokenTree],
    found: &mut Vec<At<Path>>,
) -> &'t [TokenTree] {
    while let [one, two, next, tail @ ..] = rest
        && is_punct(one, ':')
        && is_punct(two, ':')
    {
        if let TokenTree::Ident(ident) = next {
            path.push(ident.to_string());
        } else if let Some(group) = children(next, Delimiter::Brace) {
            for part in group.split(|token| is_punct(token, ',')) {
                if let Some((TokenTree::Ident(first), after)) = part.split_first() {
                    let path = path.iter().cloned().chain([first.to_string()]).collect();
                    follow(path, first.span().start().line, after, found);
                }
            }
            return tail;
        } else {
            break;
        }
        rest = tail;
    }
    found.push(At { line, what: path });
    rest
}

fn strings_in(tokens: &[TokenTree], found: &mut Vec<At<String>>) {
    for token in tokens {
        match token {
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                if text.trim_start_matches(['b', 'c', 'r', '#']).starts_with('"') {
                    found.push(At { line: line(token), what: text });
                }
            }
            TokenTree::Group(group) => {
                let inside = group.stream().into_iter().collect::<Vec<_>>();
                strings_in(&shipped(&inside), found);
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
}

fn types_in(tokens: &[TokenTree], found: &mut Vec<At<String>>) {
    for three in tokens.windows(3) {
        let [TokenTree::Ident(keyword), TokenTree::Ident(name), after] = three else { continue };
        match keyword.to_string().as_str() {
            "struct" | "enum" | "trait" | "type" => {
                found.push(At { line: name.span().start().line, what: name.to_string() });
            }
            "mod" => {
                let inside = children(after, Delimiter::Brace).unwrap_or_default();
                types_in(&shipped(&inside), found);
            }
            _ => {}
        }
    }
}

fn marks_in(tokens: &[TokenTree], found: &mut Vec<At<String>>) {
    for pair in tokens.windows(2) {
        let [first, second] = pair else { continue };
        if matches!(first, TokenTree::Ident(_)) && is_bang(second) {
            found.push(At { line: line(first), what: format!("{first}!") });
        } else if is_punct(first, '#')
            && let Some(attribute) = children(second, Delimiter::Bracket)
            && let Some(name) = attribute.first()
        {
            found.push(At { line: line(first), what: format!("#{name}") });
        }
    }
    for token in tokens {
        if let TokenTree::Group(group) = token {
            marks_in(&group.stream().into_iter().collect::<Vec<_>>(), found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<String> {
        let paths = Source::new("src/a.rs", text).paths();
        paths.into_iter().map(|at| at.what.join("::")).collect()
    }

    #[test]
    fn groups_of_use_are_spread_out_and_comments_are_no_code() {
        assert_eq!(
            paths("use a::{b, c::{self, d as e}, *};"),
            ["use", "a::b", "a::c::self", "a::c::d"]
        );
        assert_eq!(paths("// a::b\n/* c::d */ /// e::f\n x::y()"), ["x::y"]);
        assert_eq!(paths("$crate::a::b!{ c::d }"), ["crate::a::b", "c::d"]);
    }

    #[test]
    fn what_only_tests_see_is_left_out() {
        let text =
            "fn a() {} #[cfg(test)] mod tests { use b::c; } #[cfg(test)] use d::e; fn f() {}";
        assert_eq!(paths(text), ["fn", "a", "fn", "f"]);
        assert_eq!(Source::new("src/a/tests.rs", "use b::c;").paths(), []);
        assert_eq!(Source::new("crates/core/tests/a.rs", "use b::c;").paths(), []);
    }

    #[test]
    fn strings_come_in_every_spelling_and_documentation_is_none() {
        let text = "/// \"one\"\nfn f() { g(\"two\", r#\"three\"#, b\"four\", 'f', 5) }";
        let found = Source::new("src/a.rs", text).strings();
        let found = found.iter().map(|at| (at.line, at.what.as_str())).collect::<Vec<_>>();
        assert_eq!(found, [(2, "\"two\""), (2, "r#\"three\"#"), (2, "b\"four\"")]);
    }

    #[test]
    fn a_file_knows_its_module() {
        let module = |path: &str| Source::new(path, "").module().map(|(m, d)| (m.to_owned(), d));
        assert_eq!(module("src/clock.rs"), Some(("clock".to_owned(), 1)));
        assert_eq!(module("src/code/mod.rs"), Some(("code".to_owned(), 1)));
        assert_eq!(module("src/code/base.rs"), Some(("code".to_owned(), 2)));
        assert_eq!(module("crates/core/src/code/base.rs"), Some(("code".to_owned(), 2)));
        assert_eq!(module("crates/core/tests/loom.rs"), None);
        assert_eq!(module("tests/it/main.rs"), None);
    }
}
