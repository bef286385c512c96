//! What a request says about the plan of a link, field by field, and a plan after such a request.

use std::fmt;

use super::document::{Action, PlanDocument, PlanField, Rule, Split, SplitKey};
use super::json::PlanJson;
use super::plan_error::{PlanError, PlanProblem};
use super::read::read_field;
use crate::link::Change;

const PASSWORD_BYTES: std::ops::RangeInclusive<usize> = 4..=71;

/// A password of a link that may be hashed. It prints as `[hidden]`.
#[derive(Clone, PartialEq, Eq)]
pub struct LinkPassword(String);

impl LinkPassword {
    pub fn parse(text: &str) -> Option<Self> {
        let is_ok = PASSWORD_BYTES.contains(&text.len()) && !text.contains('\0');
        is_ok.then(|| Self(text.to_owned()))
    }

    /// What is hashed: at most 71 bytes.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for LinkPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[hidden]")
    }
}

/// The fields of a plan that a request names; null removes one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanChanges {
    fields: Vec<(PlanField, PlanJson)>,
    /// To be hashed before it is stored.
    pub password: Change<Option<LinkPassword>>,
    /// The hash of that password.
    hash: Option<String>,
    problems: Vec<PlanProblem>,
}

impl PlanChanges {
    /// Set a field to what the request says.
    pub fn set(&mut self, field: PlanField, value: PlanJson) {
        if field != PlanField::Password {
            self.fields.retain(|(known, _)| *known != field);
            self.fields.push((field, value));
            return;
        }
        let password = match &value {
            PlanJson::Null => Some(None),
            PlanJson::Text(text) => LinkPassword::parse(text).map(Some),
            _ => None,
        };
        match password {
            Some(password) => self.password = Change::To(password),
            None => self.refuse(field.name(), PlanError::Password),
        }
    }

    /// The hash of the password that is set.
    pub fn set_hash(&mut self, hash: String) {
        self.hash = Some(hash);
    }

    /// Refuse the request for a field that is never taken, such as one that asks for a frame.
    pub fn refuse(&mut self, field: &str, error: PlanError) {
        self.problems.push(PlanProblem { field: field.to_owned(), error });
    }

    /// Whether nothing is said about a plan.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.problems.is_empty() && self.password == Change::Keep
    }

    /// `old` after the changes; a new password was hashed before. Splits that stay keep their
    /// keys; `random` gives those of new ones.
    pub fn apply(
        &self,
        old: &PlanDocument,
        random: impl FnMut() -> [u8; SplitKey::BYTES],
    ) -> Result<PlanDocument, Vec<PlanProblem>> {
        let mut new = old.clone();
        let mut problems = self.problems.clone();
        for (field, value) in &self.fields {
            problems.extend(read_field(*field, value, &mut new).err().unwrap_or_default());
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        match &self.password {
            Change::Keep => {}
            Change::To(None) => new.password = None,
            Change::To(Some(_)) if self.hash.is_some() => new.password.clone_from(&self.hash),
            // A link must not be stored without the password that was asked for.
            Change::To(Some(_)) => {
                let field = PlanField::Password.name().to_owned();
                return Err(vec![PlanProblem { field, error: PlanError::Password }]);
            }
        }
        new.take_keys(old, random);
        Ok(new)
    }
}

impl PlanDocument {
    /// Give every split its key: that of the same split in `old`, unless visitors are to be drawn again, else a new
    /// one. A split of a rule is the same if the rule has the same name, or none at the same place.
    pub fn take_keys(&mut self, old: &Self, mut random: impl FnMut() -> [u8; SplitKey::BYTES]) {
        for (at, rule) in self.rules.iter_mut().enumerate() {
            let known = match &rule.name {
                Some(name) => old.rules.iter().find(|old| old.name.as_ref() == Some(name)),
                None => old.rules.get(at).filter(|old| old.name.is_none()),
            };
            if let Action::Split(split) = &mut rule.action {
                split.take_key(known.and_then(Rule::split), &mut random);
            }
        }
        if let Some(split) = &mut self.split {
            split.take_key(old.split.as_ref(), &mut random);
        }
    }
}

impl Rule {
    /// Its split, if that is what it leads to.
    pub fn split(&self) -> Option<&Split> {
        match &self.action {
            Action::Split(split) => Some(split),
            Action::To(_) | Action::Block(_) => None,
        }
    }
}

impl Split {
    fn take_key(&mut self, old: Option<&Self>, random: &mut impl FnMut() -> [u8; SplitKey::BYTES]) {
        self.key = match old {
            Some(old) if !self.fresh => old.key,
            _ => SplitKey(random()),
        };
        self.fresh = false;
    }
}
