//! What rules go by that costs more than reading a field: the class of a user agent and the place of an address.
//! Each worker remembers both, in tables of fixed size.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use xxhash_rust::xxh64::xxh64;

use crate::clicks::classify::geo_file::GeoFile;
use crate::clicks::classify::place_of;
use crate::clicks::classify::shared_agent_parser::SharedAgentParser;
use kurz_core::plan::{AgentClass, Country, Region, VisitorPlace};

/// User agents and networks that a worker remembers.
const REMEMBERED: usize = 1024;
/// Bits of a class, see [`AgentClass::pack`]; the others of a word are the hash's.
const CLASS_BITS: u32 = 24;
const CLASS_MASK: u64 = (1 << CLASS_BITS) - 1;

/// The classes and places that one worker remembers.
#[derive(Debug)]
pub struct VisitorClasses {
    parser: Arc<SharedAgentParser>,
    file: Option<Arc<GeoFile>>,
    /// Secret: the hashes of networks are made under it.
    seed: u64,
    /// The upper bits of the hash of a user agent with its class; 0: empty.
    agents: Box<[AtomicU64]>,
    places: Mutex<Box<[(u64, VisitorPlace)]>>,
}

impl VisitorClasses {
    pub(crate) fn new(
        parser: Arc<SharedAgentParser>,
        file: Option<Arc<GeoFile>>,
        seed: u64,
    ) -> Self {
        let agents = (0..REMEMBERED).map(|_| AtomicU64::new(0)).collect();
        let places = vec![(0, VisitorPlace::default()); REMEMBERED].into_boxed_slice();
        Self { parser, file, seed, agents, places: Mutex::new(places) }
    }

    /// The same with nothing remembered.
    pub(super) fn emptied(&self) -> Self {
        Self::new(Arc::clone(&self.parser), self.file.clone(), self.seed)
    }

    /// The class of a user agent with this hash.
    pub(super) fn agent(&self, agent: Option<&[u8]>, hash: u64) -> AgentClass {
        let Some(agent) = agent else { return AgentClass::default() };
        let slot = usize::try_from(hash & 0xFFFF).unwrap_or_default() % REMEMBERED;
        let Some(slot) = self.agents.get(slot) else { return self.parser.class(agent) };
        let known = slot.load(Ordering::Relaxed);
        if known != 0 && known >> CLASS_BITS == hash >> CLASS_BITS {
            return AgentClass::unpack(u32::try_from(known & CLASS_MASK).unwrap_or_default());
        }
        let class = self.parser.class(agent);
        slot.store((hash & !CLASS_MASK) | u64::from(class.pack()), Ordering::Relaxed);
        class
    }

    /// The place of an address (an IPv4 address as mapped into IPv6). What a trusted proxy says of the country, two
    /// letters or 0, wins; the region is then known only if it is in that country.
    pub(super) fn place(&self, address: u128, from_proxy: u16) -> VisitorPlace {
        let found = self.by_address(address);
        let country = Country::from_letters(from_proxy.to_be_bytes());
        if from_proxy == 0 || !country.is_known() || found.country == country {
            return found;
        }
        VisitorPlace { country, region: Region::default() }
    }

    fn by_address(&self, address: u128) -> VisitorPlace {
        let network = network(address);
        let opened = self.file.as_ref().map(|file| file.current());
        // A new file has another place in memory: what the old one said is not found any more.
        let version = opened.as_ref().map_or(0, |file| Arc::as_ptr(file).addr());
        let version = u64::try_from(version).unwrap_or_default();
        let hash = xxh64(&network.to_le_bytes(), self.seed ^ version).max(1);
        let slot = usize::try_from(hash >> 32).unwrap_or_default() % REMEMBERED;
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(known) = places.get_mut(slot) else { return VisitorPlace::default() };
        if known.0 != hash {
            let place = place_of(opened.as_deref(), ip_of(network));
            let place = VisitorPlace {
                country: Country::from_text(&place.country),
                region: Region::from_text(&place.region),
            };
            *known = (hash, place);
        }
        known.1
    }
}

/// The network that an address is remembered by: of IPv4 24 bits, of IPv6 48.
fn network(address: u128) -> u128 {
    let is_v4 = Ipv6Addr::from_bits(address).to_ipv4_mapped().is_some();
    if is_v4 { address & !0xFF } else { address & (u128::MAX << 80) }
}

fn ip_of(address: u128) -> IpAddr {
    let address = Ipv6Addr::from_bits(address);
    address.to_ipv4_mapped().map_or(IpAddr::V6(address), |v4: Ipv4Addr| IpAddr::V4(v4))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurz_core::plan::{Browser, Os};

    fn classes() -> VisitorClasses {
        VisitorClasses::new(Arc::default(), None, 7)
    }

    fn address(text: &str) -> u128 {
        match text.parse::<IpAddr>().unwrap() {
            IpAddr::V4(v4) => v4.to_ipv6_mapped().to_bits(),
            IpAddr::V6(v6) => v6.to_bits(),
        }
    }

    #[test]
    fn a_remembered_class_equals_a_computed_one() {
        let classes = classes();
        let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
        for _ in 0..2 {
            for number in 0..3_000_u64 {
                let agent = format!("{firefox} {number}");
                let hash = xxh64(agent.as_bytes(), 3);
                let class = classes.agent(Some(agent.as_bytes()), hash);
                assert_eq!((class.browser, class.os), (Some(Browser::Firefox), Some(Os::Linux)));
            }
        }
        assert_eq!(classes.agent(None, 0), AgentClass::default());
    }

    #[test]
    fn a_place_is_that_of_the_network_unless_a_proxy_knows_better() {
        let classes = classes();
        for _ in 0..2 {
            let place = classes.place(address("193.0.6.139"), 0);
            assert_eq!(place.country, Country::from_text("NL"));
            let place = classes.place(address("2001:67c:2e8::1"), 0);
            assert_eq!(place.country, Country::from_text("NL"));
            assert!(!classes.place(address("127.0.0.1"), 0).country.is_known());
            let place = classes.place(address("193.0.6.139"), u16::from_be_bytes(*b"DE"));
            assert_eq!(place.country, Country::from_text("DE"));
        }
    }
}
