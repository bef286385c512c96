//! The place of a network: by the operator's geo file, else the country by the data that are compiled in.
//! Places are cached; a network is not kept in memory as it is, but as its hash.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use xxhash_rust::xxh64::xxh64;

use super::geo_file::{GeoFile, OpenedGeoFile, Place, country_code};

/// Networks whose place is cached: 1 MiB.
const CACHED_NETS: usize = 1 << 16;
/// Distinct places that are kept, before all are forgotten.
const MOST_PLACES: usize = 1 << 16;

/// The number of a place among those that [`Places`] knows. It is valid until [`Places::begin`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct PlaceId(u32);

impl PlaceId {
    pub(super) fn index(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

/// Finds places.
#[derive(Debug)]
pub(super) struct Places {
    /// Secret.
    seed: u64,
    file: Option<Arc<GeoFile>>,
    /// The file in use, while a batch is looked at.
    opened: Option<Arc<OpenedGeoFile>>,
    /// Hashes of networks with the numbers of their places, by a part of the hash. 0: empty.
    cache: Box<[(u64, PlaceId)]>,
    /// The first one is unknown.
    known: Vec<Place>,
    ids: HashMap<Place, PlaceId>,
}

impl Places {
    pub(super) fn new(seed: u64, file: Option<Arc<GeoFile>>) -> Self {
        let cache = vec![(0, PlaceId(0)); CACHED_NETS].into_boxed_slice();
        let opened = file.as_ref().map(|file| file.current());
        let mut places = Self { seed, file, opened, cache, known: Vec::new(), ids: HashMap::new() };
        places.forget();
        places
    }

    pub(super) fn file(&self) -> Option<&Arc<GeoFile>> {
        self.file.as_ref()
    }

    /// Prepare for a batch: use a new geo file if there is one, and forget places if there are too many.
    pub(super) fn begin(&mut self) {
        let current = self.file.as_ref().map(|file| file.current());
        let is_same = match (&self.opened, &current) {
            (Some(old), Some(new)) => Arc::ptr_eq(old, new),
            (None, None) => true,
            _ => false,
        };
        if !is_same || self.known.len() >= MOST_PLACES {
            self.opened = current;
            self.forget();
        }
    }

    fn forget(&mut self) {
        self.cache.fill((0, PlaceId(0)));
        self.ids.clear();
        self.known.clear();
        self.known.push(Place::default());
        self.ids.insert(Place::default(), PlaceId(0));
    }

    pub(super) fn get(&self, id: PlaceId) -> Place {
        self.known.get(id.index()).cloned().unwrap_or_default()
    }

    /// The place of a network: an IPv4 address, or the first 64 bits of an IPv6 address.
    pub(super) fn find(&mut self, net: u64, is_v6: bool) -> PlaceId {
        let Some(address) = address_of(net, is_v6) else { return PlaceId(0) };
        let hash = xxh64(&net.to_ne_bytes(), self.seed ^ u64::from(is_v6)).max(1);
        let slot = usize::try_from(hash >> 32).unwrap_or_default() % CACHED_NETS;
        if let Some((known, id)) = self.cache.get(slot)
            && *known == hash
        {
            return *id;
        }
        let id = self.look_up(address);
        if let Some(cached) = self.cache.get_mut(slot) {
            *cached = (hash, id);
        }
        id
    }

    fn look_up(&mut self, address: IpAddr) -> PlaceId {
        let place = place_of(self.opened.as_deref(), address);
        if let Some(id) = self.ids.get(&place) {
            return *id;
        }
        // Within a batch there may be a few more than [`MOST_PLACES`]: at most one for each click.
        let id = PlaceId(u32::try_from(self.known.len()).unwrap_or_default());
        self.known.push(place.clone());
        self.ids.insert(place, id);
        id
    }
}

/// The place of an address, by the file if it knows it.
pub(crate) fn place_of(file: Option<&OpenedGeoFile>, address: IpAddr) -> Place {
    let by_file = file.and_then(|file| file.place(address));
    by_file.or_else(|| compiled_country(address)).unwrap_or_default()
}

/// The country of an address by the delegations of the registries, which are part of the program.
fn compiled_country(address: IpAddr) -> Option<Place> {
    let country = country_code(iptocc::country_code(address)?)?;
    Some(Place { country, ..Place::default() })
}

fn address_of(net: u64, is_v6: bool) -> Option<IpAddr> {
    if net == 0 {
        return None;
    }
    if is_v6 {
        return Some(Ipv6Addr::from_bits(u128::from(net) << 64).into());
    }
    u32::try_from(net).ok().map(|bits| Ipv4Addr::from_bits(bits).into())
}

/// The two letters that a trusted proxy sent; `None` when they are no country's.
pub(super) fn country_of_proxy(letters: u16) -> Option<[u8; 2]> {
    let letters = letters.to_be_bytes();
    let text = std::str::from_utf8(&letters).ok()?;
    let code = country_code(text)?;
    let &[first, second] = code.as_bytes() else { return None };
    Some([first, second])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v4(text: &str) -> u64 {
        u64::from(text.parse::<Ipv4Addr>().unwrap().to_bits())
    }

    fn v6(text: &str) -> u64 {
        u64::try_from(text.parse::<Ipv6Addr>().unwrap().to_bits() >> 64).unwrap()
    }

    #[test]
    fn countries_are_known_without_a_file() {
        let mut places = Places::new(7, None);
        for _ in 0..2 {
            places.begin();
            let cases = [
                // RIPE NCC, Google, APNIC and their like do not move.
                (v4("193.0.6.139"), false, "NL"),
                (v4("8.8.8.8"), false, "US"),
                (v4("10.0.0.1"), false, ""),
                (v4("127.0.0.1"), false, ""),
                (v6("2001:67c:2e8::"), true, "NL"),
                (v6("2001:4860:4860::"), true, "US"),
                (v6("fe80::"), true, ""),
                (0, false, ""),
                (0, true, ""),
                (1 << 40, false, ""),
            ];
            for (net, is_v6, country) in cases {
                let id = places.find(net, is_v6);
                assert_eq!(places.get(id).country, country, "{net:x}");
            }
        }
        assert!(places.known.len() <= 3, "{:?}", places.known);
    }

    #[test]
    fn no_network_stays_in_the_cache() {
        let mut places = Places::new(7, None);
        places.find(v4("8.8.8.8"), false);
        assert!(places.cache.iter().all(|(hash, _)| *hash != v4("8.8.8.8")));
        assert!(places.cache.iter().any(|(hash, _)| *hash != 0));
    }

    #[test]
    fn only_two_letters_of_a_proxy_are_a_country() {
        let code = |text: &[u8; 2]| country_of_proxy(u16::from_be_bytes(*text));
        assert_eq!(code(b"DE"), Some(*b"DE"));
        assert_eq!(code(b"de"), Some(*b"DE"));
        for none in [b"XX", b"T1", b"\xff\xff", b"\0\0", b"A ", b"ZZ"] {
            assert_eq!(code(none), None, "{none:?}");
        }
    }
}
