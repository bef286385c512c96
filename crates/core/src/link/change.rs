//! What a request says about one field: leave it, or set it, perhaps to nothing.

/// What to do with a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Change<T> {
    #[default]
    Keep,
    To(T),
}

impl<T> Change<T> {
    /// The same change of something made from it.
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> Change<U> {
        match self {
            Self::Keep => Change::Keep,
            Self::To(value) => Change::To(make(value)),
        }
    }
}
