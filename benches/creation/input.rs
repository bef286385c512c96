//! What is stored: different URLs of about 100 bytes, and the rows that kurz would insert for them.

use std::sync::atomic::{AtomicU64, Ordering};

use kurz::app::LinkRequest;
use kurz_core::code::{WorkspaceId, canonicalise, deterministic};
use kurz_core::link::Strategy;

/// The workspace of all links.
pub(crate) const WORKSPACE: &str = "bench";

pub(crate) fn workspace() -> WorkspaceId {
    WorkspaceId::parse(WORKSPACE).expect("it is a workspace id")
}

/// Requests for links that do not exist yet.
pub(crate) fn requests(strategy: Strategy, count: usize) -> Vec<LinkRequest> {
    (0..count).map(|_| request(strategy)).collect()
}

fn request(strategy: Strategy) -> LinkRequest {
    let number = fresh();
    LinkRequest {
        original_url: url(number),
        custom_code: (strategy == Strategy::Custom).then(|| format!("custom-{number}")),
        strategy: Some(strategy),
        ..LinkRequest::default()
    }
}

/// The columns of a link that differ from link to link.
pub(crate) struct LinkRow {
    pub(crate) code: String,
    pub(crate) target: String,
    pub(crate) canonical_hash: [u8; 32],
}

/// Rows of deterministic links, as kurz would make them.
pub(crate) fn rows(count: usize) -> Vec<LinkRow> {
    let workspace = workspace();
    let row = |_| {
        let target = url(fresh());
        let canonical = canonicalise(&target).expect("it is a URL");
        LinkRow {
            code: deterministic::code(&canonical, &workspace, 0).to_string(),
            canonical_hash: canonical.sha256(),
            target,
        }
    };
    (0..count).map(row).collect()
}

fn fresh() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn url(number: u64) -> String {
    format!(
        "https://www.example.com/articles/{number:010}/a-title-of-some-words?page=2&source=mail"
    )
}
