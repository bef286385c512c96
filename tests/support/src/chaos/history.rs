//! What clients were told, and whether what they see afterwards agrees with it.
//!
//! Each link has a set of states that it may be in: one after an acknowledged operation, two after one
//! whose answer never came. What is seen narrows the set down to itself, so a link that changes its mind
//! later is caught as well. Everything that does not agree is a [`Violation`].

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

/// A link by its place.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    pub workspace: String,
    pub code: String,
}

impl Key {
    pub fn new(workspace: &str, code: &str) -> Self {
        Self { workspace: workspace.to_owned(), code: code.to_owned() }
    }

    /// Where it redirects.
    pub fn path(&self) -> String {
        format!("/w/{}/{}", self.workspace, self.code)
    }

    /// Where the API has it.
    pub fn api(&self) -> String {
        format!("/api/v1/workspaces/{}/links/{}", self.workspace, self.code)
    }
}

/// What a link may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Leads(String),
    /// Never made, or deleted.
    Missing,
}

/// Which promise was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// An acknowledged operation is gone.
    Durability,
    /// A link leads to what it was never given.
    Target,
    /// A link leads to what was given to another workspace's.
    Isolation,
    /// A code or number was given twice.
    Uniqueness,
    /// Of an operation on many at once a part was done.
    Atomicity,
    /// A link was served more often than it may be.
    Quota,
    /// An error that no fault explains.
    Errors,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub rule: Rule,
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.rule, self.what)
    }
}

/// How an operation ended, as its client knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Acknowledged,
    /// No answer, or one that does not tell: it was done or it was not.
    Unknown,
}

#[derive(Debug, Default)]
struct Meter {
    limit: u64,
    served: u64,
    /// So many more are forgiven: hits that a killed process had not written yet.
    forgiven: u64,
}

/// Everything that clients know.
#[derive(Debug, Default)]
pub struct History {
    links: HashMap<Key, Vec<State>>,
    ids: HashMap<i64, Key>,
    /// All or none of each group is there.
    groups: Vec<Vec<Key>>,
    meters: BTreeMap<Key, Meter>,
    violations: Vec<Violation>,
    pub acknowledged: u64,
    pub unknown: u64,
    pub observed: u64,
    pub answers: BTreeMap<u16, u64>,
    /// Links that were changed or asked for since they were last looked at.
    fresh: HashSet<Key>,
}

impl History {
    /// A link was made: `id` is its number if that is known.
    pub fn created(&mut self, key: Key, id: Option<i64>, target: &str, end: End) {
        let taken = self
            .links
            .get(&key)
            .is_some_and(|states| end == End::Acknowledged && !states.contains(&State::Missing));
        if taken {
            let what = format!("{} was given again, to {target}", key.path());
            self.violate(Rule::Uniqueness, what);
        }
        if let Some(other) = id.and_then(|id| self.ids.insert(id, key.clone()))
            && other != key
        {
            let what = format!("{} and {} have one number", key.path(), other.path());
            self.violate(Rule::Uniqueness, what);
        }
        self.became(key, State::Leads(target.to_owned()), end);
    }

    /// Links were asked for, all or none, and nobody knows which.
    pub fn maybe_created_together(&mut self, links: &[(Key, String)]) {
        for (key, target) in links {
            self.created(key.clone(), None, target, End::Unknown);
        }
        self.groups.push(links.iter().map(|(key, _)| key.clone()).collect());
    }

    pub fn edited(&mut self, key: Key, target: &str, end: End) {
        self.became(key, State::Leads(target.to_owned()), end);
    }

    pub fn deleted(&mut self, key: Key, end: End) {
        self.became(key, State::Missing, end);
    }

    fn became(&mut self, key: Key, state: State, end: End) {
        self.fresh.insert(key.clone());
        let states = self.links.entry(key).or_insert_with(|| vec![State::Missing]);
        match end {
            End::Acknowledged => {
                *states = vec![state];
                self.acknowledged += 1;
            }
            End::Unknown => {
                if !states.contains(&state) {
                    states.push(state);
                }
                self.unknown += 1;
            }
        }
    }

    /// An answer's status, and whether a fault excuses it.
    pub fn answered(&mut self, status: u16, excused: bool, asked: &str) {
        *self.answers.entry(status).or_default() += 1;
        if status >= 500 && !excused {
            self.violate(Rule::Errors, format!("{asked} answered {status} without a fault"));
        }
    }

    /// Something that no client should ever have been told.
    pub fn unexpected(&mut self, rule: Rule, what: String) {
        self.violate(rule, what);
    }

    /// A link may be followed so often.
    pub fn limited(&mut self, key: Key, limit: u64) {
        self.meters.insert(key, Meter { limit, served: 0, forgiven: 0 });
    }

    /// A limited link was served.
    pub fn served(&mut self, key: &Key, times: u64) {
        self.meters.get_mut(key).expect("it is limited").served += times;
    }

    /// A process was killed that may have served so many without writing them down.
    pub fn forgive(&mut self, key: &Key, times: u64) {
        self.meters.get_mut(key).expect("it is limited").forgiven += times;
    }

    /// What a visitor found there: where it leads, or nothing.
    pub fn seen(&mut self, key: &Key, found: &State) {
        self.observed += 1;
        self.fresh.remove(key);
        let Some(states) = self.links.get_mut(key) else { return };
        if states.contains(found) {
            *states = vec![found.clone()];
            return;
        }
        let known = states.clone();
        let (rule, word) = match found {
            State::Missing => (Rule::Durability, "is missing".to_owned()),
            State::Leads(_) if known == [State::Missing] => {
                (Rule::Durability, "is back though its end was acknowledged".to_owned())
            }
            State::Leads(target) => {
                // Targets name their workspace.
                let own = target.contains(&format!("/{}/", key.workspace));
                let rule = if own { Rule::Target } else { Rule::Isolation };
                (rule, format!("leads to {target}"))
            }
        };
        self.violate(rule, format!("{} {word}; it may be {known:?}", key.path()));
    }

    /// Links that were changed since they were last looked at.
    pub fn fresh(&self) -> Vec<Key> {
        self.fresh.iter().cloned().collect()
    }

    /// Every link that anybody ever asked for.
    pub fn keys(&self) -> Vec<Key> {
        self.links.keys().cloned().collect()
    }

    /// Those that are surely there, with their targets.
    pub fn living(&self) -> Vec<(Key, String)> {
        let sure = self.links.iter().filter_map(|(key, states)| match states.as_slice() {
            [State::Leads(target)] => Some((key.clone(), target.clone())),
            _ => None,
        });
        sure.collect()
    }

    /// How often a limited link was served.
    pub fn times_served(&self, key: &Key) -> u64 {
        self.meters.get(key).map_or(0, |meter| meter.served)
    }

    /// What was broken so far. Groups are looked at once all of their links were.
    pub fn violations(&self) -> Vec<Violation> {
        let mut all = self.violations.clone();
        for group in &self.groups {
            let states: Option<Vec<bool>> = group.iter().map(|key| self.is_there(key)).collect();
            let Some(states) = states else { continue };
            if states.iter().any(|there| *there) && !states.iter().all(|there| *there) {
                let what = format!("of {group:?} a part is there: {states:?}");
                all.push(Violation { rule: Rule::Atomicity, what });
            }
        }
        for (key, meter) in &self.meters {
            if meter.served > meter.limit + meter.forgiven {
                let what = format!(
                    "{} was served {} times of {} (and {} that a kill forgot)",
                    key.path(),
                    meter.served,
                    meter.limit,
                    meter.forgiven
                );
                all.push(Violation { rule: Rule::Quota, what });
            }
        }
        all
    }

    /// Whether a link is there, if that is known.
    fn is_there(&self, key: &Key) -> Option<bool> {
        match self.links.get(key)?.as_slice() {
            [state] => Some(*state != State::Missing),
            _ => None,
        }
    }

    fn violate(&mut self, rule: Rule, what: String) {
        // The first ones tell what is wrong.
        if self.violations.len() < 1000 {
            self.violations.push(Violation { rule, what });
        }
    }

    /// Nothing was broken; otherwise the scenario ends here and says what.
    #[track_caller]
    pub fn expect_sound(&self, scenario: &str, seed: u64) {
        let violations = self.violations();
        let first: Vec<String> = violations.iter().take(20).map(ToString::to_string).collect();
        assert!(
            violations.is_empty(),
            "{scenario} with seed {seed}: {} violations, the first of them:\n  {}",
            violations.len(),
            first.join("\n  ")
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: &str = "https://example.com/a/1";

    fn leads(target: &str) -> State {
        State::Leads(target.to_owned())
    }

    fn key(code: &str) -> Key {
        Key::new("a", code)
    }

    /// A history with one acknowledged link.
    fn one() -> History {
        let mut history = History::default();
        history.created(key("one"), Some(1), TARGET, End::Acknowledged);
        history
    }

    #[track_caller]
    fn broken(history: &History, rule: Rule) {
        let rules: Vec<Rule> = history.violations().iter().map(|found| found.rule).collect();
        assert_eq!(rules, [rule]);
    }

    #[track_caller]
    fn sound(history: &History) {
        assert_eq!(history.violations(), []);
    }

    #[test]
    fn a_lost_link_is_caught() {
        let mut history = one();
        history.seen(&key("one"), &leads(TARGET));
        sound(&history);
        history.seen(&key("one"), &State::Missing);
        broken(&history, Rule::Durability);
    }

    #[test]
    fn a_wrong_target_is_caught() {
        let mut history = one();
        history.seen(&key("one"), &leads("https://example.com/a/2"));
        broken(&history, Rule::Target);
    }

    #[test]
    fn another_workspaces_target_is_caught() {
        let mut history = one();
        history.seen(&key("one"), &leads("https://example.com/b/1"));
        broken(&history, Rule::Isolation);
    }

    #[test]
    fn a_lost_edit_and_a_lost_delete_are_caught() {
        let mut history = one();
        history.edited(key("one"), "https://example.com/a/2", End::Acknowledged);
        history.seen(&key("one"), &leads(TARGET));
        broken(&history, Rule::Target);
        let mut history = one();
        history.deleted(key("one"), End::Acknowledged);
        history.seen(&key("one"), &leads(TARGET));
        broken(&history, Rule::Durability);
    }

    #[test]
    fn a_code_or_number_that_was_given_twice_is_caught() {
        let mut history = one();
        history.created(key("one"), Some(2), "https://example.com/a/2", End::Acknowledged);
        broken(&history, Rule::Uniqueness);
        let mut history = one();
        history.created(key("two"), Some(1), "https://example.com/a/2", End::Acknowledged);
        broken(&history, Rule::Uniqueness);
    }

    #[test]
    fn what_nobody_knows_may_be_or_not_but_not_change_its_mind() {
        for (first, second) in [(leads(TARGET), State::Missing), (State::Missing, leads(TARGET))] {
            let mut history = History::default();
            history.created(key("one"), None, TARGET, End::Unknown);
            history.seen(&key("one"), &first);
            history.seen(&key("one"), &first);
            sound(&history);
            history.seen(&key("one"), &second);
            broken(&history, Rule::Durability);
        }
        let mut history = one();
        history.edited(key("one"), "https://example.com/a/2", End::Unknown);
        history.seen(&key("one"), &leads("https://example.com/a/2"));
        sound(&history);
        history.seen(&key("one"), &leads("https://example.com/a/3"));
        broken(&history, Rule::Target);
    }

    #[test]
    fn a_group_of_which_a_part_is_there_is_caught() {
        let links = [(key("one"), TARGET.to_owned()), (key("two"), TARGET.to_owned())];
        for (second, torn) in [(leads(TARGET), false), (State::Missing, true)] {
            let mut history = History::default();
            history.maybe_created_together(&links);
            history.seen(&key("one"), &leads(TARGET));
            sound(&history);
            history.seen(&key("two"), &second);
            if torn { broken(&history, Rule::Atomicity) } else { sound(&history) }
        }
    }

    #[test]
    fn a_quota_that_is_passed_is_caught_unless_a_kill_explains_it() {
        let mut history = one();
        history.limited(key("one"), 10);
        history.served(&key("one"), 10);
        sound(&history);
        history.served(&key("one"), 1);
        broken(&history, Rule::Quota);
        history.forgive(&key("one"), 1);
        sound(&history);
    }

    #[test]
    fn an_error_without_a_fault_is_caught() {
        let mut history = one();
        history.answered(503, true, "GET /one");
        history.answered(404, false, "GET /two");
        sound(&history);
        history.answered(503, false, "GET /one");
        broken(&history, Rule::Errors);
    }
}
