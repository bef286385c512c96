//! Builds the parts of `app` and of the redirect service from the configuration.

use std::net::SocketAddr;
use std::sync::Arc;

use super::routes;
use super::run::StartError;
use super::stored_secrets::StoredSecrets;
use crate::app::{
    AnalyticsPolicy, COST, Parts, Passwords, Policy, PrivacyNotice, SearchLimit,
    SearchLimitSettings,
};
use crate::cache::{
    ActiveBlocklist, Hosts, LinkCache, LinkCacheSizes, LinkDefaults, PlanSettings, ReuseCache,
};
use crate::clickhouse::ClickHouse;
use crate::clicks::ClickWriter;
use crate::clicks::classify::{Classifier, ClassifierError, ClassifierSettings};
use crate::client_address::{Networks, TrustedProxies};
use crate::clock::Clock;
use crate::config::{
    Analytics, Config, Links, PrivateTargets, RateLimits, Targets, password_threads,
};
use crate::egress::HostProver;
use crate::entropy::Entropy;
use crate::peers::Peers;
use crate::quota::{ClickLimits, SharedQuota};
use crate::redirect::{ClickSettings, PasswordCheck, RedirectService, VisitorClasses};
use crate::redis::Redis;
use crate::store::{HostUrls, Store};
use crate::telemetry::RequestIds;
use kurz_core::analytics::AnalyticsMode;
use kurz_core::clicks::Visitors;
use kurz_core::limits;
use kurz_core::link::OwnAddresses;

/// The parts of `app`; `bound` is the address that the listener got.
pub(super) async fn parts(
    config: &Config,
    store: Arc<Store>,
    bound: SocketAddr,
    clock: Clock,
    entropy: Entropy,
) -> Result<Parts, StartError> {
    let secrets = StoredSecrets { store: &store, clock: &clock, entropy: &entropy };
    let scrambler = secrets.scrambler(&config.codes).await?;
    let tokens = secrets.tokens(&config.access).await?;
    let name = secrets.channel_name().await?;
    let hit_limit = config.links.hit_limit.unwrap_or(0);
    let redis = config.redis.url.clone();
    let redis = redis.map(|url| Arc::new(Redis::new(url, config.store.tls_ca.clone())));
    let peers = Arc::new(Peers::new(Arc::clone(&store), redis, &name, &entropy));
    let clickhouse = clickhouse(config, name)?;
    let workers = config.net.workers().get();
    let mode = analytics_policy(config).mode_with(None);
    let classifier = classifier(config, bound, &entropy)?;
    let (geo_file, agent_parser) = (classifier.geo_file(), classifier.agent_parser());
    let channels = classifier.channels();
    let secrets = StoredSecrets { store: &store, clock: &clock, entropy: &entropy };
    let visitor_seed = secrets.visitor_seed().await?;
    let clicks = ClickWriter::start(workers, &store, classifier, mode, clock.now()).await?;
    let quota = if store.is_single_process() {
        None
    } else {
        let (store, peers, clock) = (Arc::clone(&store), Arc::clone(&peers), clock.clone());
        let on_outage = config.redis.on_outage;
        Some(Arc::new(SharedQuota::join(store, peers, clicks.id(), clock, on_outage).await?))
    };
    let blocked = Arc::new(ActiveBlocklist::default());
    let plans = PlanSettings {
        agents: Arc::clone(&agent_parser),
        no_track_param: config.analytics.no_track_param.clone(),
    };
    let links = LinkCache::new(
        LinkCacheSizes { bytes: config.cache.link_bytes(), workers },
        LinkDefaults { hit_limit, details: mode > AnalyticsMode::Off, plans },
        Arc::clone(&store),
        quota.clone(),
        Arc::clone(&blocked),
        clock.clone(),
    );
    Ok(Parts {
        store,
        blocked,
        links: Arc::new(links),
        reuse: Arc::new(ReuseCache::new(config.cache.repeat_bytes)),
        hosts: Arc::new(Hosts::new(&main_host_urls(&config.links))),
        peers,
        quota,
        clicks: Arc::new(clicks),
        clickhouse,
        geo_file,
        visitor_seed,
        agent_parser,
        channels,
        reserved: Arc::new(routes::reserved()),
        scrambler,
        code_length: config.codes.code_length,
        host_prover: HostProver::with_system_transport(config.links.dns_resolver),
        clock,
        entropy,
        tokens,
        passwords: Arc::new(passwords(&config.rates)?),
        limits: Arc::new(rate_limits(config)),
        searches: SearchLimit::new(search_limits(config)),
        policy: policy(config, bound),
    })
}

/// Where addresses of the main host lead that are no link's.
fn main_host_urls(links: &Links) -> HostUrls {
    HostUrls {
        home: links.home_url.clone(),
        not_found: links.not_found_url.clone(),
        invalid_code: links.invalid_code_url.clone(),
    }
}

/// The redirect service over these parts.
pub(super) async fn redirects(
    config: &Config,
    parts: &Parts,
    proxies: Arc<TrustedProxies>,
) -> Result<RedirectService, StartError> {
    let Parts { store, clock, entropy, .. } = parts;
    let seed = StoredSecrets { store, clock, entropy }.visitor_seed().await?;
    Ok(RedirectService {
        near: Arc::default(),
        links: Arc::clone(&parts.links),
        hosts: Arc::clone(&parts.hosts),
        quota: parts.quota.clone(),
        writer: Arc::clone(&parts.clicks),
        queue: parts.clicks.queue(0),
        visitors: Arc::new(Visitors::new(seed)),
        clicks: Arc::new(click_settings(&config.analytics)),
        classes: Arc::new(VisitorClasses::new(
            Arc::clone(&parts.agent_parser),
            parts.geo_file.clone(),
            seed,
        )),
        channels: Arc::clone(&parts.channels),
        seen: Arc::default(),
        click_limits: ClickLimits::new(Arc::clone(&parts.store)),
        passwords: password_check(&parts.passwords),
        date: Arc::default(),
        reserved: Arc::clone(&parts.reserved),
        limits: Arc::clone(&parts.limits),
        proxies,
        throttle: Arc::default(),
        clock: parts.clock.clone(),
        request_ids: RequestIds::new(parts.entropy.clone()),
    })
}

/// Compares passwords of links on the threads that compare those of accounts.
fn password_check(passwords: &Arc<Passwords>) -> PasswordCheck {
    let passwords = Arc::clone(passwords);
    PasswordCheck::new(move |password, hash| {
        let passwords = Arc::clone(&passwords);
        Box::pin(async move { passwords.matches_link(&password, hash).await.ok() })
    })
}

fn classifier(
    config: &Config,
    bound: SocketAddr,
    entropy: &Entropy,
) -> Result<Box<Classifier>, ClassifierError> {
    let mut seed = [0; 8];
    entropy.fill(&mut seed);
    let settings = ClassifierSettings {
        seed: u64::from_le_bytes(seed),
        own_host: Some(config.net.public_url_at(bound).host().to_owned()),
        channels: config.analytics.channels.clone(),
        geo_file: config.analytics.geo_file.clone(),
    };
    Classifier::new(settings).map(Box::new)
}

fn clickhouse(config: &Config, store: String) -> Result<Option<Arc<ClickHouse>>, StartError> {
    let Some(url) = &config.analytics.clickhouse else { return Ok(None) };
    let clickhouse = ClickHouse::new(url, config.store.tls_ca.as_deref());
    let clickhouse = clickhouse.map_err(|error| StartError::Setting(error.to_string()))?;
    Ok(Some(Arc::new(clickhouse.owned_by(store))))
}

fn click_settings(analytics: &Analytics) -> ClickSettings {
    ClickSettings {
        honours_gpc: analytics.honour.gpc,
        honours_dnt: analytics.honour.dnt,
        excluded: Networks::new(analytics.exclude.clone().unwrap_or_default()),
        no_track_param: analytics.no_track_param.clone(),
        country_field: analytics.geo_header.clone(),
    }
}

fn policy(config: &Config, bound: SocketAddr) -> Policy {
    let user_link_limit = config.access.user_link_limit.unwrap_or(0);
    let public_url = config.net.public_url_at(bound);
    Policy {
        own: OwnAddresses::new(public_url.host(), public_url.effective_port(), bound),
        public_url,
        hit_limit: config.links.hit_limit.unwrap_or(0),
        counter_ttl: config.links.counter_ttl,
        private_targets: config.links.private_targets == PrivateTargets::Allow,
        fixed_targets: config.links.targets == Targets::Fixed,
        host_quarantine: config.links.host_quarantine,
        audit_keep: config.retention.audit_keep,
        open: config.access.open,
        signup: config.access.signup,
        anon_ttl: config.retention.anon_ttl,
        front_totals: config.access.front_totals,
        health_checks: config.retention.health_checks,
        no_track_param: config.analytics.no_track_param.clone(),
        purge_grace: config.retention.purge_grace,
        user_link_limit: i64::try_from(user_link_limit).unwrap_or(i64::MAX),
        workspace_limit: config.access.workspace_limit,
        custom_code_limit: config.access.custom_code_limit,
        analytics: analytics_policy(config),
        privacy: PrivacyNotice::of(config),
    }
}

fn analytics_policy(config: &Config) -> AnalyticsPolicy {
    let Analytics { mode, events_keep, sums_keep, visitor_period, .. } = config.analytics;
    AnalyticsPolicy { mode, events_keep, sums_keep, period: visitor_period }
}

fn passwords(rates: &RateLimits) -> std::io::Result<Passwords> {
    Passwords::start(password_threads(rates.password_threads), rates.password_queue, COST)
}

/// The rate limits; all off where they are not wanted.
fn rate_limits(config: &Config) -> limits::Limits {
    let rates = &config.rates;
    let numbers = limits::LimitSettings {
        logins_per_account: rates.logins_per_account,
        logins_per_address: rates.logins_per_address,
        signups: rates.signups,
        anonymous_links: rates.anonymous_links,
        anonymous_links_daily: rates.anonymous_links_daily,
        misses: rates.misses,
        bad_credentials: rates.bad_credentials,
        reports: rates.reports,
        links: rates.links,
        calls_per_account: rates.calls_per_account,
        calls_per_key: rates.calls_per_key,
    };
    let none = limits::LimitSettings::default();
    limits::Limits::new(if config.net.limits { &numbers } else { &none })
}

/// The limits of searches; off where limits are not wanted.
fn search_limits(config: &Config) -> SearchLimitSettings {
    let RateLimits { searches, searches_per_account, .. } = config.rates;
    let numbers = SearchLimitSettings { in_all: searches, per_account: searches_per_account };
    if config.net.limits { numbers } else { SearchLimitSettings::default() }
}
