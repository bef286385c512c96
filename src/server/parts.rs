//! Builds the parts of `app` and of the redirect service from the configuration.

use std::net::SocketAddr;
use std::sync::Arc;

use super::routes;
use super::run::StartError;
use super::stored_secrets::StoredSecrets;
use crate::app::{COST, Parts, Passwords, Policy, SearchLimit, SearchLimitSettings};
use crate::cache::{ActiveBlocklist, Hosts, LinkCache, LinkCacheSizes, ReuseCache};
use crate::clicks::ClickWriter;
use crate::client_address::TrustedProxies;
use crate::clock::Clock;
use crate::config::{Config, PrivateTargets, RateLimits, Targets, password_threads};
use crate::egress::HostProver;
use crate::entropy::Entropy;
use crate::peers::Peers;
use crate::quota::SharedQuota;
use crate::redirect::RedirectService;
use crate::redis::Redis;
use crate::store::Store;
use crate::telemetry::RequestIds;
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
    let workers = config.net.workers().get();
    let clicks = ClickWriter::start(workers, &store, clock.now()).await?;
    let quota = if store.is_single_process() {
        None
    } else {
        let (store, peers, clock) = (Arc::clone(&store), Arc::clone(&peers), clock.clone());
        let on_outage = config.redis.on_outage;
        Some(Arc::new(SharedQuota::join(store, peers, clicks.id(), clock, on_outage).await?))
    };
    let blocked = Arc::new(ActiveBlocklist::default());
    let links = LinkCache::new(
        LinkCacheSizes { bytes: config.cache.link_bytes(), workers },
        hit_limit,
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
        hosts: Arc::new(Hosts::default()),
        peers,
        quota,
        clicks: Arc::new(clicks),
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

/// The redirect service over these parts.
pub(super) fn redirects(parts: &Parts, proxies: Arc<TrustedProxies>) -> RedirectService {
    RedirectService {
        near: Arc::default(),
        links: Arc::clone(&parts.links),
        hosts: Arc::clone(&parts.hosts),
        quota: parts.quota.clone(),
        writer: Arc::clone(&parts.clicks),
        queue: parts.clicks.queue(0),
        visitors: Arc::new(Visitors::new(random(&parts.entropy))),
        date: Arc::default(),
        reserved: Arc::clone(&parts.reserved),
        limits: Arc::clone(&parts.limits),
        proxies,
        throttle: Arc::default(),
        clock: parts.clock.clone(),
        request_ids: RequestIds::new(parts.entropy.clone()),
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
        purge_grace: config.retention.purge_grace,
        user_link_limit: i64::try_from(user_link_limit).unwrap_or(i64::MAX),
        workspace_limit: config.access.workspace_limit,
        custom_code_limit: config.access.custom_code_limit,
    }
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

fn random(entropy: &Entropy) -> u64 {
    let mut bytes = [0; 8];
    entropy.fill(&mut bytes);
    u64::from_ne_bytes(bytes)
}
