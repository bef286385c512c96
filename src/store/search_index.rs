//! The index behind searches: the trigrams of each link's code, title, target and note, and a token for the list
//! that it is in. It finds candidates; whether one holds the text is decided by its row.
//!
//! On PostgreSQL it is a GIN index over an expression, on SQLite the table `link_search`, which FTS5 keeps.
//! The writer thread indexes the links of a transaction with one statement right before it commits:
//! triggers cost twice as much, since FTS5 writes what it has gathered at each statement. So a migration
//! that changes codes, titles, targets, notes or owners has to write to `link_search` as well.
//!
//! Invariant: whatever is committed is indexed. Only `scope_token` and the migrations know the tokens.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::functions::FunctionFlags;
use rusqlite::hooks::Action;
use rusqlite::{Connection, params};

/// Letters of a token.
const GRAM: usize = 3;
/// Most trigrams of a text that are looked up: each more costs a walk through its list, and few of them
/// leave few candidates.
const GRAMS: usize = 4;
/// Between the tokens of a PostgreSQL array; no text holds it.
const SEPARATOR: &str = "\u{1}";

/// Both take a JSON array of numbers.
const REMOVE: &str = "delete from link_search where rowid in (select value from json_each($1))";
const INSERT: &str = "insert into link_search (rowid, text)
    select id, scope_token(list_scope) || char(10) || code || char(10) || coalesce(title, '')
        || char(10) || target || char(10) || coalesce(note, '')
    from links where id in (select value from json_each($1)) and purged_at is null";

/// The candidates on SQLite and PostgreSQL, for the parameter `$2`.
macro_rules! sqlite_candidates {
    () => {
        "select rowid as id from link_search where cast($1 as text) = 'search' and link_search match $2"
    };
}
macro_rules! postgres_candidates {
    () => {
        "select id from links where cast($1 as text) = 'search' and purged_at is null
            and string_to_array('@@@' || list_scope || chr(1)
                || regexp_replace(lower(code || chr(10) || coalesce(title, '') || chr(10) || target),
                    '(...)', '\\1' || chr(1), 'g') || chr(1)
                || regexp_replace(substr(lower(code || chr(10) || coalesce(title, '') || chr(10)
                    || target), 2), '(...)', '\\1' || chr(1), 'g') || chr(1)
                || regexp_replace(substr(lower(code || chr(10) || coalesce(title, '') || chr(10)
                    || target), 3), '(...)', '\\1' || chr(1), 'g'), chr(1))
                @> string_to_array(cast($2 as text), chr(1))
        union all select id from links where cast($1 as text) = 'search' and purged_at is null
            and note is not null
            and string_to_array('@@@' || list_scope || chr(1)
                || regexp_replace(lower(note), '(...)', '\\1' || chr(1), 'g') || chr(1)
                || regexp_replace(substr(lower(note), 2), '(...)', '\\1' || chr(1), 'g') || chr(1)
                || regexp_replace(substr(lower(note), 3), '(...)', '\\1' || chr(1), 'g'), chr(1))
                @> string_to_array(cast($2 as text), chr(1))"
    };
}
pub(super) use {postgres_candidates, sqlite_candidates};

/// Some trigrams that cover the whole of a text, without regard to the case of A to Z; none when it is
/// too short.
fn grams(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.to_ascii_lowercase().chars().collect();
    let Some(last) = letters.len().checked_sub(GRAM) else { return Vec::new() };
    let starts: BTreeSet<usize> = (0..=last).step_by(GRAM).chain([last]).collect();
    let starts: Vec<usize> = starts.into_iter().collect();
    let chosen: BTreeSet<usize> = if starts.len() <= GRAMS {
        starts.into_iter().collect()
    } else {
        let spread = |at: usize| starts.get(at * (starts.len() - 1) / (GRAMS - 1)).copied();
        (0..GRAMS).filter_map(spread).collect()
    };
    let gram = |start: usize| letters.iter().skip(start).take(GRAM).collect();
    chosen.into_iter().map(gram).collect()
}

/// An FTS5 query for links that may hold `text`, of one list if `scope` names one; `None` when the text is
/// too short for the index.
pub(super) fn sqlite_query(scope: Option<&str>, text: &str) -> Option<String> {
    let tokens = scope.map(scope_token).into_iter().chain(grams(text));
    let quoted = |token: String| format!("\"{}\"", token.replace('"', "\"\""));
    let query = tokens.map(quoted).collect::<Vec<_>>().join(" AND ");
    (!grams(text).is_empty()).then_some(query)
}

/// The same as an array of tokens.
pub(super) fn postgres_query(scope: Option<&str>, text: &str) -> Option<String> {
    let scope = scope.map(|scope| format!("@@@{scope}"));
    let tokens: Vec<String> = scope.into_iter().chain(grams(text)).collect();
    (!grams(text).is_empty() && !text.contains(SEPARATOR)).then(|| tokens.join(SEPARATOR))
}

/// Three letters for private use that stand for a list. Two lists may share them: candidates are checked.
fn scope_token(scope: &str) -> String {
    // FNV-1a: the same on every machine and in every version.
    let hash = scope.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let letter = |shift: u32| {
        let low = u32::try_from((hash >> shift) & 0x7fff).unwrap_or_default();
        char::from_u32(0xf_0000 + low).unwrap_or('\u{f0000}')
    };
    [letter(0), letter(16), letter(32)].into_iter().collect()
}

/// Make the function `scope_token` known to a connection, for the migration and the writer, and for whoever
/// fills a file without kurz.
pub fn add_search_function(db: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    db.create_scalar_function("scope_token", 1, flags, |call| {
        Ok(scope_token(&call.get::<String>(0)?))
    })
}

/// Notices which links a transaction of the writer touches, and indexes them.
#[derive(Debug, Default)]
pub(super) struct LinkIndexer {
    touched: Arc<Mutex<TouchedLinks>>,
}

#[derive(Debug, Default)]
struct TouchedLinks {
    /// Those that are in the index already.
    old: BTreeSet<i64>,
    new: BTreeSet<i64>,
}

impl LinkIndexer {
    /// Watch the links that `writer` writes.
    pub(super) fn watch(writer: &mut Connection) -> rusqlite::Result<Self> {
        let indexer = Self::default();
        let touched = Arc::clone(&indexer.touched);
        let note = move |action: Action, _: &str, table: &str, id: i64| {
            if table == "links" {
                let mut touched = lock(&touched);
                let links = match action {
                    Action::SQLITE_INSERT => &mut touched.new,
                    _ => &mut touched.old,
                };
                links.insert(id);
            }
        };
        writer.update_hook(Some(note))?;
        Ok(indexer)
    }

    /// At the start of a transaction: what an undone one touched does not count.
    pub(super) fn begin(&self) {
        *lock(&self.touched) = TouchedLinks::default();
    }

    /// Before the commit.
    pub(super) fn write(&self, db: &Connection) -> rusqlite::Result<()> {
        let touched = std::mem::take(&mut *lock(&self.touched));
        if !touched.old.is_empty() {
            db.prepare_cached(REMOVE)?.execute(params![json(&touched.old)])?;
        }
        let all = &touched.old | &touched.new;
        if !all.is_empty() {
            db.prepare_cached(INSERT)?.execute(params![json(&all)])?;
        }
        Ok(())
    }
}

fn json(ids: &BTreeSet<i64>) -> String {
    let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
    format!("[{}]", ids.join(","))
}

fn lock(touched: &Mutex<TouchedLinks>) -> MutexGuard<'_, TouchedLinks> {
    touched.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trigrams_cover_a_text_from_its_beginning_to_its_end() {
        let table: [(&str, &[&str]); 8] = [
            ("", &[]),
            ("zz", &[]),
            ("Ää", &[]),
            ("zzZ", &["zzz"]),
            ("abcd", &["abc", "bcd"]),
            ("abcdef", &["abc", "def"]),
            ("ÄÖÜß", &["ÄÖÜ", "ÖÜß"]),
            ("abcdefghijklmnop", &["abc", "def", "jkl", "nop"]),
        ];
        for (text, expected) in table {
            assert_eq!(grams(text), expected, "{text}");
        }
    }

    #[test]
    fn a_query_quotes_what_it_looks_for() {
        assert_eq!(sqlite_query(None, "a\"b").as_deref(), Some("\"a\"\"b\""));
        assert_eq!(sqlite_query(Some("team"), "ab"), None);
        assert_eq!(
            postgres_query(Some("team"), "abcd").as_deref(),
            Some("@@@team\u{1}abc\u{1}bcd")
        );
        assert_eq!(postgres_query(None, "ab\u{1}cd"), None);
        let token = scope_token("team");
        assert_eq!(sqlite_query(Some("team"), "abc"), Some(format!("\"{token}\" AND \"abc\"")));
    }

    /// It is in files: another one would make searches miss what was indexed before.
    #[test]
    fn the_token_of_a_list_is_the_same_in_every_version() {
        assert_eq!(scope_token("main/1"), scope_token("main/1"));
        assert_eq!(scope_token("team").chars().count(), 3);
        assert_ne!(scope_token("main/1"), scope_token("main/2"));
        let letters: Vec<u32> = scope_token("main").chars().map(u32::from).collect();
        assert!(letters.iter().all(|letter| (0xf_0000..0xf_8000).contains(letter)), "{letters:x?}");
    }
}
