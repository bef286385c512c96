//! The router of the control plane: API, OpenAPI document and pages. Also the reserved words that no
//! custom code may be, taken from the same lists.

use std::any::Any;
use std::future::ready;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use http::{HeaderName, HeaderValue, StatusCode, header};
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use crate::api;
use crate::app::App;
use crate::compat;
use crate::config::PublicUrl;
use crate::problem::Problem;
use crate::telemetry::{self, Telemetry};
use crate::web;
use kurz_core::code::Reserved;

pub fn document() -> OpenApi {
    endpoints().into_openapi()
}

/// Every endpoint, those of the compatibility APIs included.
fn endpoints() -> OpenApiRouter<Arc<App>> {
    api::endpoints().merge(compat::endpoints())
}

/// Words that are pages or endpoints: no custom code may be one of them.
pub fn reserved() -> Reserved {
    let api = document();
    let pages = web::pages(&api);
    let (reads, others): (Vec<_>, Vec<_>) =
        api.paths.paths.iter().partition(|(_, methods)| methods.get.is_some());
    let reads = reads.into_iter().map(|(path, _)| path.as_str());
    let others = others.into_iter().map(|(path, _)| path.as_str());
    // The first segment of these is no page, so a link that has the word as its code goes on redirecting.
    let is_deep = |path: &&str| ["/privacy/", "/s/"].iter().any(|start| path.starts_with(start));
    let (deep, pages): (Vec<&str>, Vec<&str>) =
        pages.iter().map(|(path, _)| *path).partition(is_deep);
    Reserved::from_routes(reads.chain(pages)).with_other_methods(others.chain(deep))
}

/// The router with a span for each request and its id in the answer.
pub(super) fn traced_router(app: Arc<App>, telemetry: Arc<Telemetry>) -> Router {
    let trace = axum::middleware::from_fn_with_state(telemetry, telemetry::trace_request);
    router(app).layer(trace)
}

pub fn router(app: Arc<App>) -> Router {
    let (router, api) = endpoints().split_for_parts();
    let mut pages = Router::new();
    for (path, page) in web::pages(&api) {
        pages = pages.route(path, page);
    }
    let guard = axum::middleware::from_fn_with_state(Arc::clone(&app), web::guard);
    let open_pages = axum::middleware::from_fn_with_state(Arc::clone(&app), web::guard_open_pages);
    let open_api = axum::middleware::from_fn_with_state(Arc::clone(&app), web::guard_open_api);
    let headers = Headers::new(&app.policy().public_url);
    let router = router
        .layer(open_api)
        .merge(pages.layer(guard).layer(open_pages))
        .fallback(web::short_address)
        .method_not_allowed_fallback(method_not_allowed);
    contain(router)
        .layer(axum::middleware::map_response(move |response| ready(headers.harden(response))))
        .with_state(app)
}

async fn method_not_allowed() -> Problem {
    let detail = "This address does not know the method; `Allow` lists those it knows.";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", detail)
}

/// A panic ends one request, not the server.
fn contain<S: Clone + Send + Sync + 'static>(router: Router<S>) -> Router<S> {
    router.layer(axum::middleware::from_fn(catch_panic))
}

async fn catch_panic(request: Request, next: Next) -> Response {
    // What a handler leaves half done is its own; shared state is behind locks that say so themselves.
    let answer = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    answer.unwrap_or_else(|panic| panicked(panic.as_ref()))
}

fn panicked(panic: &(dyn Any + Send)) -> Response {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    metrics::counter!("kurz_panics_total").increment(1);
    let status = StatusCode::INTERNAL_SERVER_ERROR;
    tracing::error!(status = status.as_u16(), panic = text, "the request failed: a panic");
    let detail = "Something went wrong on the server. It has been logged.";
    Problem::new(status, "internal-error", detail).into_response()
}

/// Security headers of every answer of the router, unless it sets its own.
#[derive(Clone)]
struct Headers(Vec<(HeaderName, HeaderValue)>);

impl Headers {
    fn new(public_url: &PublicUrl) -> Self {
        let mut headers = vec![
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
            (header::CACHE_CONTROL, "no-store"),
            // Not `no-referrer`: with that, browsers send `Origin: null` with forms of our own pages.
            (header::REFERRER_POLICY, "same-origin"),
            (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
            (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
            (
                HeaderName::from_static("permissions-policy"),
                "camera=(), geolocation=(), microphone=()",
            ),
        ];
        if public_url.scheme() == "https" {
            headers.push((header::STRICT_TRANSPORT_SECURITY, "max-age=31536000"));
        }
        let fixed = headers.into_iter();
        Self(fixed.map(|(name, value)| (name, HeaderValue::from_static(value))).collect())
    }

    fn harden(&self, mut response: Response) -> Response {
        for (name, value) in &self.0 {
            response.headers_mut().entry(name).or_insert(value.clone());
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::routing::get;
    use tower::ServiceExt;

    use super::*;

    // threats: F10
    #[tokio::test]
    async fn a_panic_answers_500_to_its_own_request_alone() {
        let broken: fn() -> StatusCode = || panic!("planted");
        let router = Router::new()
            .route("/broken", get(move || async move { broken() }))
            .route("/well", get(|| async { StatusCode::NO_CONTENT }));
        let router = contain(router);
        let ask = async |path: &str| {
            let request = Request::get(path).body(Body::empty()).unwrap();
            router.clone().oneshot(request).await.unwrap().status()
        };
        for _ in 0..3 {
            assert_eq!(ask("/broken").await, StatusCode::INTERNAL_SERVER_ERROR);
            assert_eq!(ask("/well").await, StatusCode::NO_CONTENT);
        }
    }

    // threats: G11
    #[test]
    fn browsers_stay_with_https_where_kurz_is_reached_by_it() {
        let hardened = |url: &str| {
            let headers = Headers::new(&PublicUrl::parse(url).unwrap());
            let answer = headers.harden(Response::default());
            answer.headers().get(header::STRICT_TRANSPORT_SECURITY).cloned()
        };
        assert_eq!(hardened("https://kurz.example").unwrap(), "max-age=31536000");
        assert_eq!(hardened("http://kurz.example"), None);
    }

    // threats: B1
    #[test]
    fn every_first_segment_of_the_router_is_reserved() {
        let reserved = reserved();
        let api = document();
        let pages = web::pages(&api);
        let paths = api.paths.paths.keys().map(String::as_str);
        let mut seen = 0;
        for path in paths.chain(pages.iter().map(|(path, _)| *path)) {
            let word = path.split('/').nth(1).unwrap();
            if !word.is_empty() {
                seen += 1;
                assert!(reserved.contains(word), "{path}");
                assert!(reserved.contains(&word.to_uppercase()), "{path}");
            }
        }
        assert!(seen > 10);
        assert!(!reserved.contains("promo"));
    }
}
