//! What goes into a statement and what comes out: 64-bit integers, doubles, text, bytes, nothing.
//! The same five on both databases, so a row read from one equals a row read from the other.

use std::borrow::Cow;

use crate::store::Error;
use kurz_core::time::Timestamp;

/// One parameter or one column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Int(i64),
    Real(f64),
    Text(Cow<'a, str>),
    Blob(Cow<'a, [u8]>),
}

impl<'a> Value<'a> {
    pub(crate) fn text(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    pub(crate) fn owned(text: impl Into<String>) -> Value<'static> {
        Value::Text(Cow::Owned(text.into()))
    }

    pub(crate) fn blob(bytes: &'a [u8]) -> Self {
        Self::Blob(Cow::Borrowed(bytes))
    }

    /// The same value, holding its own copy of what it borrowed.
    pub(crate) fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Int(int) => Value::Int(int),
            Value::Real(real) => Value::Real(real),
            Value::Text(text) => Value::Text(Cow::Owned(text.into_owned())),
            Value::Blob(blob) => Value::Blob(Cow::Owned(blob.into_owned())),
        }
    }
}

impl From<i64> for Value<'_> {
    fn from(int: i64) -> Self {
        Self::Int(int)
    }
}

impl From<f64> for Value<'_> {
    fn from(real: f64) -> Self {
        Self::Real(real)
    }
}

impl From<Timestamp> for Value<'_> {
    fn from(at: Timestamp) -> Self {
        Self::Int(at.as_ms())
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::text(text)
    }
}

/// One row of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row(pub(crate) Vec<Value<'static>>);

impl Row {
    pub(crate) fn int(&self, column: usize) -> Result<i64, Error> {
        self.opt_int(column)?.ok_or_else(|| unexpected(column, "a number", None))
    }

    pub(crate) fn opt_int(&self, column: usize) -> Result<Option<i64>, Error> {
        match self.0.get(column) {
            Some(Value::Int(int)) => Ok(Some(*int)),
            Some(Value::Null) => Ok(None),
            other => Err(unexpected(column, "a number", other)),
        }
    }

    pub(crate) fn real(&self, column: usize) -> Result<f64, Error> {
        match self.0.get(column) {
            Some(Value::Real(real)) => Ok(*real),
            other => Err(unexpected(column, "a double", other)),
        }
    }

    pub(crate) fn text(&self, column: usize) -> Result<&str, Error> {
        self.opt_text(column)?.ok_or_else(|| unexpected(column, "text", None))
    }

    pub(crate) fn opt_text(&self, column: usize) -> Result<Option<&str>, Error> {
        match self.0.get(column) {
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(Value::Null) => Ok(None),
            other => Err(unexpected(column, "text", other)),
        }
    }

    pub(crate) fn blob(&self, column: usize) -> Result<&[u8], Error> {
        match self.0.get(column) {
            Some(Value::Blob(blob)) => Ok(blob),
            other => Err(unexpected(column, "bytes", other)),
        }
    }

    /// Whether the column holds anything.
    pub(crate) fn has(&self, column: usize) -> bool {
        !matches!(self.0.get(column), None | Some(Value::Null))
    }

    pub(crate) fn time(&self, column: usize) -> Result<Timestamp, Error> {
        self.int(column).map(Timestamp::from_ms)
    }

    pub(crate) fn opt_time(&self, column: usize) -> Result<Option<Timestamp>, Error> {
        Ok(self.opt_int(column)?.map(Timestamp::from_ms))
    }
}

fn unexpected(column: usize, wanted: &str, found: Option<&Value<'static>>) -> Error {
    Error::Corrupt(format!("column {column} holds {found:?} instead of {wanted}"))
}
