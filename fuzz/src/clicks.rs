//! Of `src/clicks`, who asks.

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitorKind {
    /// Somebody who follows the link.
    Person,
    /// Something that only looks.
    Other,
}
