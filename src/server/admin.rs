//! The admin listener: metrics and health, apart from the public address.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use http::header;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tokio::time::interval;
use tokio_util::sync::CancellationToken;

use crate::api::health;
use crate::app::App;

/// The process's metrics recorder, installed once.
pub(super) fn metrics() -> PrometheusHandle {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    let install = || {
        let recorder = PrometheusBuilder::new().build_recorder();
        let handle = recorder.handle();
        // Fails only when there is a recorder already; this is the one place that sets it.
        let _ = metrics::set_global_recorder(recorder);
        handle
    };
    HANDLE.get_or_init(install).clone()
}

/// Without this, histograms would keep every sample.
pub(super) async fn upkeep(metrics: PrometheusHandle, stop: CancellationToken) {
    let mut ticks = interval(Duration::from_secs(5));
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        metrics.run_upkeep();
    }
}

/// The routes of the admin listener.
pub(super) fn router(app: Arc<App>, metrics: PrometheusHandle) -> Router {
    let text = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
    let all = move |State(app): State<Arc<App>>| async move {
        (text, metrics.render() + &*app.redirect_metrics())
    };
    Router::new()
        .route("/metrics", get(all))
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .with_state(app)
}
