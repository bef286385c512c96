//! `/app/admin`: totals, this instance, jobs and users, for those who administer the server.

pub(super) mod audit;
pub(super) mod reports;

use askama::Template;
use axum::response::{IntoResponse, Redirect, Response};

use crate::app::{Instance, JobRun, User};
use crate::web::errors::PageError;
use crate::web::form::FormData;
use crate::web::i18n::fill;
use crate::web::page::{self, Layout};
use crate::web::visitor::PageCall;

#[derive(Template)]
#[template(path = "admin.html")]
struct AdminPage {
    page: Layout,
    live_links: String,
    redirects: String,
    latency: String,
    instances: Vec<InstanceRow>,
    store: &'static str,
    answers: String,
    redis: &'static str,
    cached: String,
    unwritten: String,
    now: String,
    jobs: Vec<JobRow>,
    users: Vec<UserRow>,
    from: String,
    next: Option<String>,
}

struct JobRow {
    name: String,
    began: String,
    until: String,
    instance: String,
}

impl From<JobRun> for JobRow {
    fn from(job: JobRun) -> Self {
        Self {
            name: job.name,
            began: page::time(job.began_at),
            until: page::time(job.until),
            instance: job.instance,
        }
    }
}

struct UserRow {
    email: String,
    name: String,
    since: String,
    is_admin: bool,
    is_disabled: bool,
}

impl From<User> for UserRow {
    fn from(user: User) -> Self {
        Self {
            email: user.email.to_string(),
            name: user.name,
            since: page::time(user.created_at),
            is_admin: user.admin_at.is_some(),
            is_disabled: user.disabled_at.is_some(),
        }
    }
}

struct InstanceRow {
    name: String,
    version: String,
    since: String,
    seen: String,
    is_this: bool,
}

fn row(one: Instance, this: &str) -> InstanceRow {
    InstanceRow {
        is_this: one.name == this,
        name: one.name,
        version: one.version,
        since: page::time(one.started_at),
        seen: page::time(one.seen_at),
    }
}

/// `GET /app/admin`
pub(in crate::web) async fn admin(
    PageCall { app, visitor, query, .. }: PageCall,
) -> Result<Response, PageError> {
    let words = visitor.words();
    let now = app.server_status(&visitor.caller).await?;
    let from = query.text("from").trim().to_lowercase();
    let users = app.list_users(&visitor.caller, query.word("after").unwrap_or(&from)).await?;
    let next = users.next.map(|after| {
        let mut next = url::form_urlencoded::Serializer::new("/app/admin?".to_owned());
        next.append_pair("from", &from).append_pair("after", &after).finish()
    });
    Ok(page::show(&AdminPage {
        page: Layout::new(&app, &visitor),
        live_links: page::number(now.totals.live_links),
        redirects: page::number(now.totals.redirects),
        latency: page::milliseconds(now.totals.mean_ms),
        instances: now.instances.into_iter().map(|one| row(one, &now.instance)).collect(),
        store: now.store,
        answers: fill(words.admin.answers, format!("{:.1}", now.store_ms)),
        redis: match now.redis_answers {
            None => words.admin.redis_off,
            Some(true) => words.admin.redis_up,
            Some(false) => words.admin.redis_away,
        },
        cached: format!(
            "{} ({} KiB)",
            page::number(now.cached_links),
            page::number(now.cached_bytes / 1024)
        ),
        unwritten: page::number(now.unwritten),
        now: page::time(now.now),
        jobs: now.jobs.into_iter().map(JobRow::from).collect(),
        users: users.items.into_iter().map(UserRow::from).collect(),
        from,
        next,
    }))
}

/// `POST /app/admin/users`: let somebody sign in or not.
pub(in crate::web) async fn users(
    PageCall { app, visitor, .. }: PageCall,
    form: FormData,
) -> Result<Response, PageError> {
    let disabled = form.text("action") == "disable";
    let with_links = form.text("links") == "on";
    app.set_user_disabled(&visitor.caller, form.text("email"), disabled, with_links).await?;
    Ok(Redirect::to("/app/admin#users").into_response())
}
