//! JSON as it stands in a body, read without a type in mind: a field that stands twice is no field. And
//! whether that is what a schema of the OpenAPI document allows.
//!
//! Invariant: it knows the shapes of a schema (types, fields, words), not its bounds: those are kurz's to
//! check, and its answers show whether it did.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// What was read.
pub(crate) enum Tree {
    Null,
    Bool,
    Integer,
    Number,
    Text(String),
    List(Vec<Self>),
    Fields(Vec<(String, Self)>),
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Tree, E> {
        Ok(Tree::Bool)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Tree, E> {
        Ok(Tree::Integer)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Tree, E> {
        Ok(Tree::Integer)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Tree, E> {
        Ok(Tree::Number)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Tree, E> {
        Ok(Tree::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let mut fields: Vec<(String, Tree)> = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, Tree>()? {
            if fields.iter().any(|(seen, _)| *seen == name) {
                return Err(Error::custom("a field stands twice"));
            }
            fields.push((name, value));
        }
        Ok(Tree::Fields(fields))
    }
}

impl Tree {
    /// Whether `schema` allows this; `named` are those that it may refer to.
    pub(crate) fn fits(&self, schema: &Value, named: &Value) -> bool {
        if let Some(name) = schema["$ref"].as_str() {
            let name = name.rsplit('/').next().unwrap_or_default();
            return self.fits(&named[name], named);
        }
        if let Some(any) = schema["oneOf"].as_array() {
            return any.iter().any(|one| self.fits(one, named));
        }
        let is = |kind: &str| match &schema["type"] {
            Value::Array(kinds) => kinds.iter().any(|one| one == kind),
            one => one == kind,
        };
        match self {
            Self::Null => is("null"),
            Self::Bool => is("boolean"),
            Self::Integer => is("integer") || is("number"),
            Self::Number => is("number"),
            Self::Text(text) => {
                let word = |words: &Vec<Value>| words.iter().any(|word| word == text);
                is("string") && schema["enum"].as_array().is_none_or(word)
            }
            Self::List(items) => {
                is("array") && items.iter().all(|item| item.fits(&schema["items"], named))
            }
            Self::Fields(fields) => is("object") && Self::fit(fields, schema, named),
        }
    }

    fn fit(fields: &[(String, Self)], schema: &Value, named: &Value) -> bool {
        if schema["properties"].is_null() {
            // An object of any fields, such as the parameters that a rule goes by.
            return true;
        }
        let known = |(name, value): &(String, Self)| {
            schema["properties"].get(name).is_some_and(|schema| value.fits(schema, named))
        };
        let there = |name: &Value| fields.iter().any(|(field, _)| name == field);
        let required = schema["required"].as_array();
        fields.iter().all(known) && required.is_none_or(|names| names.iter().all(there))
    }
}
