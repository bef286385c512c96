//! Plans of links, put into the store as the API would.

use kurz::store::{EditOutcome, LinkEdit, NewAuditEntry, Store, Subject};
use kurz_core::code::{Code, WorkspaceId};
use kurz_core::link::{LinkId, StoredPlan};
use kurz_core::plan::{PlanDocument, SplitKey};
use serde_json::Value;

use crate::http::Http;
use crate::{TestServer, links};

/// Make a link with this plan; `fields` has the other fields.
pub async fn make(kurz: &TestServer, fields: &Value, document: &Value) -> Value {
    let link = links::make(&kurz.http(), "main", fields).await;
    set(&kurz.open_store().await, &kurz.http(), &link, document).await;
    link
}

/// Give a link this plan.
pub async fn set(store: &Store, http: &Http, link: &Value, document: &Value) {
    let workspace = WorkspaceId::parse(link["workspace"].as_str().unwrap()).unwrap();
    let code = Code::parse(links::code(link)).unwrap();
    let found = store.find_link(&workspace, &code).await.unwrap().unwrap();
    let text = document.to_string();
    let splits = PlanDocument::from_json(&text).unwrap().splits().count();
    let edit = LinkEdit {
        code: None,
        strategy: found.strategy,
        target: found.target.clone(),
        canonical_hash: found.canonical_hash,
        fields: found.fields.clone(),
        plan: Some(StoredPlan { document: text, keys: vec![7; splits * SplitKey::BYTES] }),
    };
    let change = NewAuditEntry {
        id: -found.id.0 * 1_000 - found.version,
        at: found.updated_at,
        user: None,
        key: None,
        action: "edited",
        subject: Subject::link(found.id),
        detail: "{}".to_owned(),
        client: None,
    };
    let outcome = store.edit_link(&found, &edit, found.updated_at, &change).await.unwrap();
    assert_eq!(outcome, EditOutcome::Done);
    // An edit of another field keeps the plan, and makes all instances read the link again.
    let title = serde_json::json!({ "title": format!("version {}", found.version) });
    http.patch(&links::path_of(link), &title).await.expect(200);
}

/// The number of a link.
pub async fn id(store: &Store, link: &Value) -> LinkId {
    let workspace = WorkspaceId::parse(link["workspace"].as_str().unwrap()).unwrap();
    let code = Code::parse(links::code(link)).unwrap();
    store.find_link(&workspace, &code).await.unwrap().unwrap().id
}
