//! Fields of forms that are named by the path of what they say in JSON, and what is wrong with them.

use serde_json::Value;

use kurz_core::link::field_text::read_time;
use kurz_core::time::Timestamp;

/// What is wrong, by path, and where the cursor goes.
#[derive(Clone, Debug, Default)]
pub(in crate::web) struct Marks {
    faults: Vec<(String, String)>,
    focus: String,
}

impl Marks {
    /// With the cursor at a path.
    pub(in crate::web) fn focused(path: Option<String>) -> Self {
        Self { faults: Vec::new(), focus: path.unwrap_or_default() }
    }

    /// With the cursor at the first of these faults: paths and sentences.
    pub(in crate::web) fn of(mut faults: Vec<(String, String)>) -> Self {
        // The form has one way to write a split.
        for (path, _) in &mut faults {
            *path = path.replace(".variants[", "[");
        }
        let focus = faults.first().map(|(path, _)| path.clone()).unwrap_or_default();
        Self { faults, focus }
    }

    pub(in crate::web) const fn is_clean(&self) -> bool {
        self.faults.is_empty()
    }

    pub(in crate::web) fn has_focus(&self, path: &str) -> bool {
        self.focus == path
    }

    /// Whether the cursor goes to a path or below it.
    pub(in crate::web) fn has_focus_below(&self, path: &str) -> bool {
        is_below(&self.focus, path)
    }

    /// Whether the cursor goes to a field of what is at a path.
    pub(in crate::web) fn has_focus_in(&self, path: &str) -> bool {
        self.focus.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'))
    }

    /// What is wrong at a path or below it.
    pub(in crate::web) fn below(&self, path: &str) -> Option<String> {
        self.find(|name| is_below(name, path))
    }

    /// What is wrong at exactly this path.
    pub(in crate::web) fn at(&self, path: &str) -> Option<String> {
        self.find(|name| name == path)
    }

    fn find(&self, is_it: impl Fn(&str) -> bool) -> Option<String> {
        self.faults.iter().find(|(name, _)| is_it(name)).map(|(_, text)| text.clone())
    }

    /// A field of one line.
    pub(in crate::web) fn field(&self, path: String, value: String) -> Field {
        let has_focus = is_below(&self.focus, &path);
        Field { value, fault: self.below(&path), has_focus, path }
    }
}

/// Whether `name` is `path` or something in it.
fn is_below(name: &str, path: &str) -> bool {
    name.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// A field with one value.
#[derive(Clone, Debug)]
pub(in crate::web) struct Field {
    pub(in crate::web) path: String,
    pub(in crate::web) value: String,
    pub(in crate::web) fault: Option<String>,
    pub(in crate::web) has_focus: bool,
}

/// A value of one line, whatever it is.
pub(in crate::web) fn plain(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Bool(yes)) => yes.to_string(),
        _ => String::new(),
    }
}

/// A time as a `datetime-local` input takes it, in UTC; seconds only where there are some.
pub(in crate::web) fn local(value: Option<&Value>) -> String {
    let text = plain(value);
    let Some(at) = Timestamp::parse_rfc3339(&text) else { return text };
    let text = at.to_rfc3339();
    let end = if text.get(16..) == Some(":00.000Z") { 16 } else { 19 };
    text.get(..end).unwrap_or_default().to_owned()
}

/// A time of a form in RFC 3339, or what was entered instead.
pub(in crate::web) fn time(text: &str) -> Value {
    match read_time(text) {
        Ok(Some(at)) => at.to_rfc3339().into(),
        _ => text.into(),
    }
}

/// A whole number, or what was entered instead.
pub(in crate::web) fn number(text: &str) -> Value {
    text.parse::<u64>().map_or_else(|_| text.into(), Value::from)
}
