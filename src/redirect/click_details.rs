//! What is kept of a request as the details of its click, for both ways in which requests are read: the
//! fast path and hyper.
//!
//! Invariants: of a visitor who asked not to be tracked, nothing that is about them gets into the click.
//! What a peer says about its client is believed only if the peer is a trusted proxy.

use std::borrow::Cow;
use std::net::IpAddr;

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::client_address::{Networks, TrustedProxies};
use crate::redirect::{RedirectRequest, VisitorHeaders};
use kurz_core::clicks::{
    Click, ClickDetails, ClickFlags, HashedText, QueryParameters, SeenVisitor, VisitorDetails,
    VisitorKind, pack_language, referrer_host,
};

/// What is read, and about whom nothing is.
#[derive(Clone, Debug, Default)]
pub struct ClickSettings {
    /// `Sec-GPC: 1` is honoured.
    pub honours_gpc: bool,
    /// `DNT: 1` is honoured.
    pub honours_dnt: bool,
    /// Networks whose clicks stand apart.
    pub excluded: Networks,
    /// The query parameter that asks not to be tracked.
    pub no_track_param: Option<String>,
    /// The field in which trusted proxies send the country of their client.
    pub country_field: Option<HeaderName>,
}

/// The other end of a connection.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionPeer {
    pub address: IpAddr,
    pub is_trusted: bool,
    /// What its own requests are counted with, where it is no proxy.
    client: ClickClient,
}

/// Where a click comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClickClient {
    /// An IPv4 address as mapped into IPv6.
    address: u128,
    /// See [`Click::net`].
    net: u64,
    /// Whether it is an IPv6 address, and whether it is excluded.
    flags: ClickFlags,
    /// See [`Click::country`].
    country: u16,
}

/// What a request says that a click is made of.
#[derive(Clone, Copy, Debug)]
pub struct ClickFields<'a> {
    /// In lower case, without a port.
    pub host: &'a str,
    pub query: Option<&'a str>,
    pub headers: VisitorHeaders<'a>,
    pub client: ClickClient,
}

impl ClickClient {
    /// An IPv4 address as mapped into IPv6.
    pub(super) fn address(self) -> u128 {
        self.address
    }

    /// See [`Click::country`].
    pub(super) fn country(self) -> u16 {
        self.country
    }
}

impl ClickSettings {
    /// Whether the visitor asked not to be tracked.
    pub(super) fn is_private(&self, fields: &ClickFields<'_>) -> bool {
        let ClickFields { query, headers, .. } = fields;
        let no_track = self.no_track_param.as_deref();
        let asks =
            |query: &str| QueryParameters::read(query.as_bytes(), no_track).asks_not_to_track;
        query.is_some_and(asks)
            || (self.honours_gpc && headers.gpc)
            || (self.honours_dnt && headers.dnt)
    }

    /// The other end of a connection from `address`.
    pub fn peer(&self, proxies: &TrustedProxies, address: IpAddr) -> ConnectionPeer {
        let is_trusted = proxies.trust(address);
        ConnectionPeer { address, is_trusted, client: self.client(address, None) }
    }

    /// The client of a request that hyper read.
    fn client_of(
        &self,
        proxies: &TrustedProxies,
        peer: &ConnectionPeer,
        headers: &HeaderMap,
    ) -> ClickClient {
        if !peer.is_trusted {
            return peer.client;
        }
        let country = self.country_field.as_ref().and_then(|name| headers.get(name));
        let address = proxies.client(peer.address, headers).0;
        self.client(address, country.map(HeaderValue::as_bytes))
    }

    /// The same on the fast path, from the values of its fields `X-Forwarded-For`, the last one first, and
    /// the first value of the field with a given name.
    #[inline]
    pub fn plain_client<'a>(
        &self,
        proxies: &TrustedProxies,
        peer: &ConnectionPeer,
        forwarded: impl Iterator<Item = &'a [u8]>,
        first_of: impl FnOnce(&str) -> Option<&'a [u8]>,
    ) -> ClickClient {
        if !peer.is_trusted {
            return peer.client;
        }
        let country = self.country_field.as_ref().and_then(|name| first_of(name.as_str()));
        self.client(proxies.client_of(peer.address, forwarded).0, country)
    }

    fn client(&self, address: IpAddr, country: Option<&[u8]>) -> ClickClient {
        let address = address.to_canonical();
        let excluded = self.excluded.contain(address);
        let flags = ClickFlags::NONE.with_if(ClickFlags::EXCLUDED, excluded);
        let country = country.map_or(0, pack_country);
        match address {
            IpAddr::V4(address) => ClickClient {
                address: address.to_ipv6_mapped().to_bits(),
                net: address.to_bits().into(),
                flags,
                country,
            },
            IpAddr::V6(address) => ClickClient {
                address: address.to_bits(),
                net: u64::try_from(address.to_bits() >> 64).unwrap_or_default(),
                flags: flags.with(ClickFlags::V6),
                country,
            },
        }
    }

    /// Queue `click` with what may be kept of its request, or without any details; `push` does it.
    #[inline]
    pub(crate) fn queue(
        &self,
        mut click: Click,
        visitor: SeenVisitor,
        seed: u64,
        fields: Option<&ClickFields<'_>>,
        push: impl FnOnce(Click, Option<&ClickDetails<'_>>),
    ) {
        click.flags = click
            .flags
            .with_if(ClickFlags::OTHER, visitor.kind == VisitorKind::Other)
            .with_if(ClickFlags::PREFETCH, visitor.is_prefetch);
        let Some(ClickFields { host, query, headers, client }) = fields else {
            return push(click, None);
        };
        let parameters = query.map_or_else(QueryParameters::default, |query| {
            QueryParameters::read(query.as_bytes(), self.no_track_param.as_deref())
        });
        let host = host.as_bytes();
        let opted_out = parameters.asks_not_to_track;
        let excluded = opted_out || client.flags.has(ClickFlags::EXCLUDED);
        click.flags = click.flags.with(ClickFlags::DETAILS).with_if(ClickFlags::EXCLUDED, excluded);
        if opted_out || (self.honours_gpc && headers.gpc) || (self.honours_dnt && headers.dnt) {
            click.flags = click.flags.with(ClickFlags::PRIVATE);
            return push(click, Some(&ClickDetails { host, visitor: None, seed }));
        }
        click.flags = click.flags.with(client.flags);
        if headers.gpc || headers.dnt {
            let asked = click.flags.with_if(ClickFlags::GPC, headers.gpc);
            click.flags = asked.with_if(ClickFlags::DNT, headers.dnt);
        }
        click.net = client.net;
        click.country = client.country;
        click.language = headers.languages.map_or(0, pack_language);
        let referrer = headers.referer.map_or(Cow::Borrowed(&[][..]), referrer_host);
        let query = query.filter(|_| parameters.is_tracked).unwrap_or_default();
        let details = VisitorDetails {
            address: client.address,
            agent: HashedText::new(headers.agent.unwrap_or_default(), visitor.agent_hash),
            referrer: &referrer,
            query: query.as_bytes(),
        };
        push(click, Some(&ClickDetails { host, visitor: Some(details), seed }));
    }
}

impl<'a> ClickFields<'a> {
    /// Those of a request that hyper read.
    pub fn of(
        settings: &ClickSettings,
        proxies: &TrustedProxies,
        request: &RedirectRequest<'a>,
    ) -> Self {
        let RedirectRequest { host, query, headers, peer, .. } = *request;
        let client = settings.client_of(proxies, peer, headers);
        Self { host, query, headers: VisitorHeaders::read(headers), client }
    }
}

/// Two letters, the first in the upper byte; 0 for anything else, and for `XX`, which means unknown.
fn pack_country(field: &[u8]) -> u16 {
    match field {
        [first, second] if first.is_ascii_alphabetic() && second.is_ascii_alphabetic() => {
            match [first.to_ascii_uppercase(), second.to_ascii_uppercase()] {
                [b'X', b'X'] => 0,
                letters => u16::from_be_bytes(letters),
            }
        }
        _ => 0,
    }
}

/// [`ClickFields`] of a request that waits for a read.
#[derive(Debug)]
pub(super) struct OwnedClickFields {
    host: Box<str>,
    query: Option<Box<str>>,
    purpose: Option<Box<[u8]>>,
    agent: Option<Box<[u8]>>,
    referer: Option<Box<[u8]>>,
    languages: Option<Box<[u8]>>,
    gpc: bool,
    dnt: bool,
    client: ClickClient,
}

impl OwnedClickFields {
    /// Overwrite where the click comes from.
    pub(super) fn forget_client(&mut self) {
        self.client = ClickClient::default();
    }

    pub(super) fn of(fields: &ClickFields<'_>) -> Self {
        let ClickFields { host, query, headers, client } = *fields;
        let VisitorHeaders { purpose, agent, referer, languages, gpc, dnt } = headers;
        let [purpose, agent, referer, languages] =
            [purpose, agent, referer, languages].map(|value| value.map(Box::from));
        let (host, query) = (host.into(), query.map(Box::from));
        Self { host, query, purpose, agent, referer, languages, gpc, dnt, client }
    }

    pub(super) fn borrow(&self) -> ClickFields<'_> {
        let headers = VisitorHeaders {
            purpose: self.purpose.as_deref(),
            agent: self.agent.as_deref(),
            referer: self.referer.as_deref(),
            languages: self.languages.as_deref(),
            gpc: self.gpc,
            dnt: self.dnt,
        };
        let (host, query) = (&*self.host, self.query.as_deref());
        ClickFields { host, query, headers, client: self.client }
    }
}
