//! Of `src/record`, who asks.

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visitor {
    /// Somebody who follows the link.
    Person,
    /// Something that only looks.
    Other,
}
