//! What the click writer must know of a link to describe a click on it: whose it is, and how much is kept. Read
//! from the store, and remembered for a minute.

use std::cell::Cell;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use ipnet::IpNet;
use xxhash_rust::xxh64::xxh64;

use crate::store::{Error, LINKS_AT_ONCE, LinkMode, Store};
use kurz_core::analytics::{AnalyticsMode, EventBatch, TextColumn, TextValues, UNKNOWN};
use kurz_core::clicks::{Click, ClickFlags};
use kurz_core::code::WorkspaceId;
use kurz_core::link::LinkId;
use kurz_core::plan::{PlanDocument, Rule};
use kurz_core::time::Timestamp;

/// Links that are remembered: at most 13 MiB.
const MOST: usize = 262_144;
/// How long. Whoever changes a mode has all instances forget what they remember; this is for messages that are lost.
const FRESH: Duration = Duration::from_mins(10);
/// How long for links whose plan chose: a link can be given another plan at any time.
const CHOICES_FRESH: Duration = Duration::from_secs(1);

/// Whose a link is, and what is kept about its clicks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkAnalyticsInfo {
    pub workspace: Arc<WorkspaceId>,
    /// Mixed into the hashes of visitors, so that those of two workspaces cannot be compared.
    pub workspace_key: u64,
    pub mode: AnalyticsMode,
    /// Networks whose clicks stand apart in the workspace.
    pub excluded: Arc<ExcludedNetworks>,
    /// The wishes not to be tracked that the workspace honours: [`ClickFlags::GPC`] and [`ClickFlags::DNT`].
    pub honoured: ClickFlags,
    /// The names in its plan, if it has one.
    pub names: Option<Arc<PlanNames>>,
}

/// What the rules and variants of a link's plan are called.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PlanNames {
    rules: Vec<String>,
    /// By rule; the first list is that of the link's own split.
    variants: Vec<Vec<String>>,
}

impl PlanNames {
    /// A plan that cannot be read has no names.
    fn read(document: &str) -> Option<Arc<Self>> {
        let document = PlanDocument::from_json(document).ok()?;
        let named = |(number, rule): (usize, &Rule)| {
            rule.name.clone().unwrap_or_else(|| format!("#{}", number + 1))
        };
        let rules: Vec<String> = document.rules.iter().enumerate().map(named).collect();
        let mut variants = vec![Vec::new(); rules.len() + 1];
        for (rule, split) in document.splits() {
            if let Some(names) = variants.get_mut(rule.map_or(0, |rule| rule + 1)) {
                *names = split.variants.iter().map(|variant| variant.name.clone()).collect();
            }
        }
        Some(Arc::new(Self { rules, variants }))
    }

    /// The name of a rule by its number, from 1 on.
    fn rule(&self, number: &str) -> Option<&str> {
        let place = number.parse::<usize>().ok()?.checked_sub(1)?;
        self.rules.get(place).map(String::as_str)
    }

    /// The name of a variant by the numbers of its rule and its own, such as `0.2`.
    fn variant(&self, numbers: &str) -> Option<&str> {
        let (rule, variant) = numbers.split_once('.')?;
        let variants = self.variants.get(rule.parse::<usize>().ok()?)?;
        variants.get(variant.parse::<usize>().ok()?.checked_sub(1)?).map(String::as_str)
    }
}

/// A link that something has to be known of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AskedLink {
    pub(crate) link: LinkId,
    /// Whether names of its rules or variants are needed.
    pub(crate) has_choices: bool,
}

impl AskedLink {
    /// Links of which no names are needed, each once and in their order.
    pub(crate) fn each_once(links: impl Iterator<Item = LinkId>) -> Vec<Self> {
        let mut links: Vec<Self> = links.map(|link| Self { link, has_choices: false }).collect();
        links.sort_unstable();
        links.dedup();
        links
    }
}

/// What is known of links, by their numbers.
#[derive(Debug)]
pub(crate) struct LinkInfoCache {
    server_mode: AnalyticsMode,
    /// `None` for a link that does not exist; with the time of the look-up.
    known: HashMap<LinkId, (Option<Arc<LinkAnalyticsInfo>>, Timestamp)>,
    /// What links of a workspace have in common; a workspace has one for each mode.
    shared: HashMap<WorkspaceId, Vec<Arc<LinkAnalyticsInfo>>>,
}

impl LinkInfoCache {
    pub(crate) fn new(server_mode: AnalyticsMode) -> Self {
        Self { server_mode, known: HashMap::new(), shared: HashMap::new() }
    }

    /// Forget everything: modes were changed.
    pub(crate) fn clear(&mut self) {
        self.known.clear();
        self.shared.clear();
    }

    /// What is known of these links, each once and in their order, after those that are not known were looked
    /// up. Links that do not exist are not in it. If the look-up fails, so do only the links that were never
    /// looked up: the second is whether there are any.
    pub(crate) async fn learn(
        &mut self,
        links: &[AskedLink],
        store: &Store,
        now: Timestamp,
    ) -> (LinkInfos, Option<Error>) {
        let is_known = |asked: &AskedLink| {
            let fresh = if asked.has_choices { CHOICES_FRESH } else { FRESH };
            let known = self.known.get(&asked.link);
            known.is_some_and(|(_, at)| *at <= now && now < at.plus(fresh))
        };
        let missing = links.iter().filter(|asked| !is_known(asked)).map(|asked| asked.link);
        let missing: Vec<LinkId> = missing.collect();
        if self.known.len() + missing.len() > MOST {
            let is_asked = |link: &LinkId| links.binary_search_by_key(link, |it| it.link).is_ok();
            self.known.retain(|link, _| is_asked(link));
            self.shared.clear();
        }
        let mut failure = None;
        for part in missing.chunks(LINKS_AT_ONCE) {
            match store.list_link_modes(part).await {
                Ok(found) => {
                    for link in part {
                        self.known.insert(*link, (None, now));
                    }
                    for one in found {
                        let link = one.link;
                        let info = self.info(one);
                        self.known.insert(link, (Some(info), now));
                    }
                }
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
        }
        let mut infos = LinkInfos::default();
        for AskedLink { link, .. } in links {
            match self.known.get(link) {
                Some((Some(info), _)) => infos.known.push((*link, Arc::clone(info))),
                Some((None, _)) => {}
                None => infos.unknown.push(*link),
            }
        }
        (infos, failure)
    }

    fn info(&mut self, link: LinkMode) -> Arc<LinkAnalyticsInfo> {
        let LinkMode { workspace, mode, exclude, honour, plan, .. } = link;
        let mode = mode.map_or(self.server_mode, |mode| mode.min(self.server_mode));
        let honoured = honoured(honour.as_deref());
        let names = plan.as_deref().and_then(PlanNames::read);
        let alike = self.shared.entry(workspace.clone()).or_default();
        let is_alike = |info: &&Arc<LinkAnalyticsInfo>| {
            (info.mode, info.honoured) == (mode, honoured) && info.excluded.texts == exclude
        };
        let shared = if let Some(info) = alike.iter().find(is_alike) {
            Arc::clone(info)
        } else {
            let info = Arc::new(LinkAnalyticsInfo {
                workspace_key: xxh64(workspace.as_str().as_bytes(), 0),
                workspace: Arc::new(workspace),
                mode,
                excluded: Arc::new(ExcludedNetworks::parse(exclude)),
                honoured,
                names: None,
            });
            // Settings that are not in force any more.
            if alike.len() >= AnalyticsMode::ALL.len() {
                alike.clear();
            }
            alike.push(Arc::clone(&info));
            info
        };
        if names.is_none() {
            return shared;
        }
        Arc::new(LinkAnalyticsInfo { names, ..(*shared).clone() })
    }
}

fn honoured(words: Option<&str>) -> ClickFlags {
    words.unwrap_or_default().split(',').fold(ClickFlags::NONE, |flags, word| match word {
        "gpc" => flags.with(ClickFlags::GPC),
        "dnt" => flags.with(ClickFlags::DNT),
        _ => flags,
    })
}

/// Networks that a workspace excluded.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ExcludedNetworks {
    texts: Vec<String>,
    networks: Vec<IpNet>,
}

impl ExcludedNetworks {
    /// An address is a network of its own; what is neither excludes nobody.
    fn parse(texts: Vec<String>) -> Self {
        let network = |text: &String| {
            text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
        };
        Self { networks: texts.iter().filter_map(network).collect(), texts }
    }

    /// Whether a click comes from one of them. Of an IPv6 address the first 64 bits are known.
    fn contain(&self, click: &Click) -> bool {
        let is_v6 = click.flags.has(ClickFlags::V6);
        click.net != 0
            && self.networks.iter().any(|network| match network {
                IpNet::V6(network) if is_v6 => {
                    let bits = u32::from(network.prefix_len().min(64));
                    let differing = network.addr().to_bits() ^ (u128::from(click.net) << 64);
                    differing.leading_zeros() >= bits
                }
                IpNet::V4(network) if !is_v6 => {
                    let address = u32::try_from(click.net).unwrap_or_default();
                    network.contains(&Ipv4Addr::from_bits(address))
                }
                _ => false,
            })
    }
}

/// What is known of the links of one batch, in the order of the links.
#[derive(Debug, Default)]
pub(crate) struct LinkInfos {
    known: Vec<(LinkId, Arc<LinkAnalyticsInfo>)>,
    /// Links that could not be looked up.
    unknown: Vec<LinkId>,
    /// Where the last one was found: clicks and events come in the order of their links.
    last: Cell<usize>,
}

impl LinkInfos {
    /// What is known of a link.
    pub(crate) fn get(&self, link: LinkId) -> Option<&LinkAnalyticsInfo> {
        let is_at = |at: &usize| self.known.get(*at).is_some_and(|(known, _)| *known == link);
        let last = self.last.get();
        let at = [last, last + 1].into_iter().find(is_at);
        let search = || self.known.binary_search_by_key(&link, |(known, _)| *known).ok();
        let at = at.or_else(search)?;
        self.last.set(at);
        self.known.get(at).map(|(_, info)| &**info)
    }

    /// Whether a link could not be looked up.
    pub(crate) fn is_unknown(&self, link: LinkId) -> bool {
        self.unknown.binary_search(&link).is_ok()
    }

    /// Whether this holds for all that is known.
    fn all(&self, holds: impl Fn(&LinkAnalyticsInfo) -> bool) -> bool {
        self.known.iter().all(|(_, info)| holds(info))
    }

    /// The mode of a link: nothing is kept of one that does not exist.
    pub(crate) fn mode(&self, link: LinkId) -> AnalyticsMode {
        self.get(link).map_or(AnalyticsMode::Off, |info| info.mode)
    }

    /// Mark clicks from networks that their workspace excluded.
    pub(crate) fn exclude(&self, clicks: &mut [Click]) {
        if self.all(|info| info.excluded.networks.is_empty()) {
            return;
        }
        for click in clicks {
            let info = self.get(click.link);
            let is_excluded = info.is_some_and(|info| info.excluded.contain(click));
            click.flags = click.flags.with_if(ClickFlags::EXCLUDED, is_excluded);
        }
    }

    /// Take everything about the visitor out of clicks whose workspace honours their wish not to be tracked.
    pub(crate) fn honour_wishes(&self, clicks: &mut [Click]) {
        if self.all(|info| info.honoured == ClickFlags::NONE) {
            return;
        }
        for click in clicks {
            let honoured = self.get(click.link).map_or(ClickFlags::NONE, |it| it.honoured);
            let asks = |wish| honoured.has(wish) && click.flags.has(wish);
            if asks(ClickFlags::GPC) || asks(ClickFlags::DNT) {
                let Click { link, at, nanos, host, variant, answer, .. } = *click;
                let flags = click.flags.with(ClickFlags::PRIVATE);
                *click = Click { host, variant, answer, flags, ..Click::new(link, at, nanos) };
            }
        }
    }

    /// Put names for the numbers of rules and variants.
    pub(crate) fn name_choices(&self, batch: &mut EventBatch) {
        for column in [TextColumn::Rule, TextColumn::Variant] {
            let Some(place) = TextColumn::ALL.iter().position(|known| *known == column) else {
                continue;
            };
            let Some(values) = batch.texts.get_mut(place) else { continue };
            let is_choice = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
            if !values.dictionary.iter().any(|text| is_choice(text)) {
                continue;
            }
            let named = batch.links.iter().enumerate().map(|(event, link)| {
                let text = values.get(event);
                if !is_choice(text) {
                    return text;
                }
                let names = self.get(*link).and_then(|info| info.names.as_deref());
                let name = match column {
                    TextColumn::Rule => names.and_then(|names| names.rule(text)),
                    _ => names.and_then(|names| names.variant(text)),
                };
                // The plan was changed since: nobody knows what it was called.
                name.unwrap_or(UNKNOWN)
            });
            let named = TextValues::of(named.collect::<Vec<&str>>());
            if let Some(values) = batch.texts.get_mut(place) {
                *values = named;
            }
        }
    }

    /// The key of the workspace of a link about which something is kept.
    pub(crate) fn workspace_key(&self, link: LinkId) -> Option<u64> {
        let info = self.get(link)?;
        (info.mode > AnalyticsMode::Off).then_some(info.workspace_key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_rules_and_variants_become_names() {
        let document = r#"{"rules":[
            {"name":"phones","when":{"device":["phone"]},"split":[
                {"name":"a","weight":1,"to":"https://a.example/"},
                {"name":"b","weight":1,"to":"https://b.example/"}]},
            {"when":{},"to":"https://c.example/"}],
            "split":[{"name":"old","weight":1,"to":"https://d.example/"},
                {"name":"new","weight":1,"to":"https://e.example/"}]}"#;
        let names = PlanNames::read(document).unwrap();
        assert_eq!((names.rule("1"), names.rule("2")), (Some("phones"), Some("#2")));
        assert_eq!((names.rule("3"), names.rule("0")), (None, None));
        assert_eq!((names.variant("1.2"), names.variant("0.1")), (Some("b"), Some("old")));
        assert_eq!(
            (names.variant("2.1"), names.variant("0.3"), names.variant("x")),
            (None, None, None)
        );
        assert!(PlanNames::read("{").is_none());
    }

    #[test]
    fn a_network_is_excluded_with_all_its_addresses_and_no_other() {
        let texts =
            ["203.0.113.0/24", "198.51.100.7", "2001:db8:1::/48", "2001:db8:2::9", "nobody"];
        let excluded = ExcludedNetworks::parse(texts.map(str::to_owned).to_vec());
        let click = |address: &str| {
            let click = Click::new(LinkId(1), Timestamp::from_ms(0), 0);
            match address.parse::<IpAddr>().unwrap() {
                IpAddr::V4(address) => Click { net: u64::from(address.to_bits()), ..click },
                IpAddr::V6(address) => {
                    let net = u64::try_from(address.to_bits() >> 64).unwrap();
                    Click { net, flags: ClickFlags::V6, ..click }
                }
            }
        };
        for (address, expected) in [
            ("203.0.113.0", true),
            ("203.0.113.255", true),
            ("203.0.114.0", false),
            ("198.51.100.7", true),
            ("198.51.100.8", false),
            ("2001:db8:1:ffff::1", true),
            ("2001:db8:2::1", true),
            ("2001:db8:2:1::9", false),
            ("0.0.0.0", false),
        ] {
            assert_eq!(excluded.contain(&click(address)), expected, "{address}");
        }
    }

    #[test]
    fn a_workspace_honours_what_the_server_does_not() {
        let info = |honour| LinkAnalyticsInfo {
            names: None,
            workspace: Arc::new(WorkspaceId::parse("team").unwrap()),
            workspace_key: 1,
            mode: AnalyticsMode::Events,
            excluded: Arc::default(),
            honoured: honoured(honour),
        };
        let click = |link: i64, flags| Click {
            flags,
            person: 7,
            net: 8,
            language: 9,
            agent: 1,
            referrer: 2,
            query: 3,
            host: 4,
            country: 5,
            ..Click::new(LinkId(link), Timestamp::from_ms(6), 10)
        };
        let known = [(LinkId(1), info(Some("gpc"))), (LinkId(2), info(Some("dnt,gpc")))];
        let known = known.into_iter().chain([(LinkId(3), info(Some("none")))]);
        let known = known.map(|(link, info)| (link, Arc::new(info))).collect();
        let infos = LinkInfos { known, ..LinkInfos::default() };
        let (gpc, dnt, none) = (ClickFlags::GPC, ClickFlags::DNT, ClickFlags::NONE);
        for (link, wish, is_private) in [
            (1, gpc, true),
            (1, dnt, false),
            (1, none, false),
            (2, dnt, true),
            (2, gpc, true),
            (3, gpc.with(dnt), false),
        ] {
            let mut clicks = [click(link, wish)];
            infos.honour_wishes(&mut clicks);
            let bare = Click::new(LinkId(link), Timestamp::from_ms(6), 10);
            let private = Click { host: 4, flags: wish.with(ClickFlags::PRIVATE), ..bare };
            let expected = if is_private { private } else { click(link, wish) };
            assert_eq!(clicks, [expected], "{link} {wish:?}");
        }
    }
}
