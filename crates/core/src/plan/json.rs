//! JSON as a tree, for fields whose errors name their place. A key that stands twice in one object is refused
//! while the tree is read, like anywhere in a body.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanJson {
    Null,
    Bool(bool),
    Integer(i64),
    /// A number that is no whole number of 64 bits.
    Number(serde_json::Number),
    Text(String),
    List(Vec<Self>),
    /// In the order of the text; each key once.
    Object(Vec<(String, Self)>),
}

impl PlanJson {
    /// Read a whole text.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// What it is, for a message.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Integer(_) | Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

impl<'de> Deserialize<'de> for PlanJson {
    fn deserialize<D: Deserializer<'de>>(de: D) -> Result<Self, D::Error> {
        de.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = PlanJson;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<PlanJson, E> {
        Ok(PlanJson::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<PlanJson, E> {
        Ok(PlanJson::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<PlanJson, E> {
        Ok(i64::try_from(value).map_or_else(|_| PlanJson::Number(value.into()), PlanJson::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<PlanJson, E> {
        Ok(serde_json::Number::from_f64(value).map_or(PlanJson::Null, PlanJson::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<PlanJson, E> {
        Ok(PlanJson::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<PlanJson, E> {
        Ok(PlanJson::Text(value))
    }

    fn visit_unit<E>(self) -> Result<PlanJson, E> {
        Ok(PlanJson::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<PlanJson, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(PlanJson::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<PlanJson, A::Error> {
        let mut object: Vec<(String, PlanJson)> = Vec::new();
        while let Some((key, value)) = entries.next_entry::<String, PlanJson>()? {
            if object.iter().any(|(known, _)| *known == key) {
                return Err(A::Error::custom(format_args!("duplicate field `{key}`")));
            }
            object.push((key, value));
        }
        Ok(PlanJson::Object(object))
    }
}

impl Serialize for PlanJson {
    fn serialize<S: Serializer>(&self, ser: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => ser.serialize_unit(),
            Self::Bool(value) => ser.serialize_bool(*value),
            Self::Integer(value) => ser.serialize_i64(*value),
            Self::Number(value) => value.serialize(ser),
            Self::Text(value) => ser.serialize_str(value),
            Self::List(items) => {
                let mut list = ser.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(item)?;
                }
                list.end()
            }
            Self::Object(entries) => {
                let mut map = ser.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_read_and_written_in_its_order_and_no_key_stands_twice() {
        let text = r#"{"b":[1,-2,0.5,"x",null,true],"a":{"c":{}}}"#;
        let tree = PlanJson::parse(text).unwrap();
        assert_eq!(serde_json::to_string(&tree).unwrap(), text);
        assert_eq!(
            PlanJson::parse("18446744073709551615").unwrap(),
            PlanJson::Number(u64::MAX.into())
        );
        let error = PlanJson::parse(r#"{"a":{"c":1,"c":2}}"#).unwrap_err();
        assert!(error.to_string().contains("duplicate field `c`"), "{error}");
        assert!(PlanJson::parse(&"[".repeat(200)).is_err(), "no overflow of the stack");
    }
}
