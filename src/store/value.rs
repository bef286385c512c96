//! Parameters and columns: 64-bit integers, doubles, text, bytes, null.
//! The same five on both databases, so a row read from one equals a row read from the other.

use std::borrow::Cow;

use crate::store::Error;
use kurz_core::time::Timestamp;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SqlValue<'a> {
    Null,
    Int(i64),
    Real(f64),
    Text(Cow<'a, str>),
    Blob(Cow<'a, [u8]>),
}

impl<'a> SqlValue<'a> {
    pub(crate) fn text(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    pub(crate) fn owned(text: impl Into<String>) -> SqlValue<'static> {
        SqlValue::Text(Cow::Owned(text.into()))
    }

    pub(crate) fn blob(bytes: &'a [u8]) -> Self {
        Self::Blob(Cow::Borrowed(bytes))
    }

    /// The same value, holding its own copy of what it borrowed.
    pub(crate) fn into_owned(self) -> SqlValue<'static> {
        match self {
            SqlValue::Null => SqlValue::Null,
            SqlValue::Int(int) => SqlValue::Int(int),
            SqlValue::Real(real) => SqlValue::Real(real),
            SqlValue::Text(text) => SqlValue::Text(Cow::Owned(text.into_owned())),
            SqlValue::Blob(blob) => SqlValue::Blob(Cow::Owned(blob.into_owned())),
        }
    }
}

impl From<i64> for SqlValue<'_> {
    fn from(int: i64) -> Self {
        Self::Int(int)
    }
}

impl From<f64> for SqlValue<'_> {
    fn from(real: f64) -> Self {
        Self::Real(real)
    }
}

impl From<Timestamp> for SqlValue<'_> {
    fn from(at: Timestamp) -> Self {
        Self::Int(at.as_ms())
    }
}

impl<'a, T: Into<SqlValue<'a>>> From<Option<T>> for SqlValue<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<'a> From<&'a str> for SqlValue<'a> {
    fn from(text: &'a str) -> Self {
        Self::text(text)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SqlRow(pub(crate) Vec<SqlValue<'static>>);

impl SqlRow {
    pub(crate) fn int(&self, column: usize) -> Result<i64, Error> {
        self.opt_int(column)?.ok_or_else(|| unexpected(column, "a number", None))
    }

    pub(crate) fn opt_int(&self, column: usize) -> Result<Option<i64>, Error> {
        match self.0.get(column) {
            Some(SqlValue::Int(int)) => Ok(Some(*int)),
            Some(SqlValue::Null) => Ok(None),
            other => Err(unexpected(column, "a number", other)),
        }
    }

    /// A number of 16 bits.
    pub(crate) fn small_int(&self, column: usize) -> Result<u16, Error> {
        let int = self.int(column)?;
        u16::try_from(int).map_err(|_| unexpected(column, "a number of 16 bits", None))
    }

    pub(crate) fn real(&self, column: usize) -> Result<f64, Error> {
        match self.0.get(column) {
            Some(SqlValue::Real(real)) => Ok(*real),
            other => Err(unexpected(column, "a double", other)),
        }
    }

    pub(crate) fn text(&self, column: usize) -> Result<&str, Error> {
        self.opt_text(column)?.ok_or_else(|| unexpected(column, "text", None))
    }

    pub(crate) fn opt_text(&self, column: usize) -> Result<Option<&str>, Error> {
        match self.0.get(column) {
            Some(SqlValue::Text(text)) => Ok(Some(text)),
            Some(SqlValue::Null) => Ok(None),
            other => Err(unexpected(column, "text", other)),
        }
    }

    pub(crate) fn blob(&self, column: usize) -> Result<&[u8], Error> {
        match self.0.get(column) {
            Some(SqlValue::Blob(blob)) => Ok(blob),
            other => Err(unexpected(column, "bytes", other)),
        }
    }

    pub(crate) fn has(&self, column: usize) -> bool {
        !matches!(self.0.get(column), None | Some(SqlValue::Null))
    }

    pub(crate) fn time(&self, column: usize) -> Result<Timestamp, Error> {
        self.int(column).map(Timestamp::from_ms)
    }

    pub(crate) fn opt_time(&self, column: usize) -> Result<Option<Timestamp>, Error> {
        Ok(self.opt_int(column)?.map(Timestamp::from_ms))
    }
}

fn unexpected(column: usize, wanted: &str, found: Option<&SqlValue<'static>>) -> Error {
    Error::Corrupt(format!("column {column} holds {found:?} instead of {wanted}"))
}
