//! Orphans: addresses on a workspace's own hosts that lead to no link, and how often they were asked for. On one
//! day each host has a bounded number of paths; what is beyond is one number.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::analytics::DaySums;
use crate::analytics::day_sums::WHOLE_WORKSPACE;

/// The most paths that a host has on one day.
pub const MOST_PATHS: usize = 1_000;
/// The most paths of all hosts together.
const MOST_OF_ALL: usize = 20_000;
/// Longer paths are cut to so many bytes.
pub const LONGEST_PATH: usize = 256;

/// Misses of one day, by host and path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Orphans {
    hosts: BTreeMap<String, HostOrphans>,
    paths: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct HostOrphans {
    paths: BTreeMap<String, u64>,
    /// Misses whose path found no room.
    rest: u64,
}

/// How often an address was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrphanRow {
    pub host: String,
    /// Begins with a slash.
    pub path: String,
    pub misses: u64,
}

/// The most frequent orphans, and what is beyond them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrphanReport {
    pub rows: Vec<OrphanRow>,
    /// Misses that are in no row.
    pub rest: u64,
    pub total: u64,
}

impl Orphans {
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// Count misses of a path, which begins with a slash.
    pub fn add(&mut self, host: &str, path: &str, misses: u64) {
        let path = path.get(..path.floor_char_boundary(LONGEST_PATH)).unwrap_or_default();
        let has_room = self.paths < MOST_OF_ALL;
        let of_host = match self.hosts.get_mut(host) {
            Some(of_host) => of_host,
            None => self.hosts.entry(host.to_owned()).or_default(),
        };
        if let Some(known) = of_host.paths.get_mut(path) {
            *known = known.saturating_add(misses);
        } else if has_room && of_host.paths.len() < MOST_PATHS {
            of_host.paths.insert(path.to_owned(), misses);
            self.paths += 1;
        } else {
            of_host.rest = of_host.rest.saturating_add(misses);
        }
    }

    fn add_rest(&mut self, host: &str, misses: u64) {
        if misses > 0 {
            let rest = &mut self.hosts.entry(host.to_owned()).or_default().rest;
            *rest = rest.saturating_add(misses);
        }
    }

    /// Count everything in `other` as well: what was known before keeps its place.
    pub fn merge(&mut self, other: &Self) {
        for (host, of_host) in &other.hosts {
            for (path, misses) in &of_host.paths {
                self.add(host, path, *misses);
            }
            self.add_rest(host, of_host.rest);
        }
    }

    /// As sums of a day: `host/path`, or the host alone for what found no room.
    pub fn to_sums(&self) -> DaySums {
        let of_host = |(host, of_host): (&String, &HostOrphans)| {
            let paths =
                of_host.paths.iter().map(|(path, misses)| (format!("{host}{path}"), *misses));
            let rest = Some((host.clone(), of_host.rest)).filter(|(_, misses)| *misses > 0);
            paths.chain(rest).collect::<Vec<_>>()
        };
        let rows: Vec<(String, u64)> = self.hosts.iter().flat_map(of_host).collect();
        DaySums::of(rows.iter().map(|(name, misses)| (WHOLE_WORKSPACE, &**name, *misses, 0)))
    }

    pub fn from_sums(sums: &DaySums) -> Self {
        let mut orphans = Self::default();
        for (_, name, misses, _) in sums.rows() {
            match name.find('/') {
                Some(slash) => {
                    let (host, path) = name.split_at(slash);
                    orphans.add(host, path, misses);
                }
                None => orphans.add_rest(name, misses),
            }
        }
        orphans
    }
}

impl OrphanReport {
    /// The most frequent orphans of some days, at most `limit`.
    pub fn of(days: impl IntoIterator<Item = Orphans>, limit: usize) -> Self {
        let mut sums: BTreeMap<(String, String), u64> = BTreeMap::new();
        let (mut rest, mut total) = (0_u64, 0_u64);
        for (host, of_host) in days.into_iter().flat_map(|day| day.hosts) {
            rest = rest.saturating_add(of_host.rest);
            total = total.saturating_add(of_host.rest);
            for (path, misses) in of_host.paths {
                total = total.saturating_add(misses);
                match sums.entry((host.clone(), path)) {
                    Entry::Occupied(mut known) => *known.get_mut() += misses,
                    Entry::Vacant(place) => {
                        place.insert(misses);
                    }
                }
            }
        }
        let row = |((host, path), misses)| OrphanRow { host, path, misses };
        let mut rows: Vec<OrphanRow> = sums.into_iter().map(row).collect();
        // Equal ones stay in the order of their names.
        rows.sort_by_key(|row| std::cmp::Reverse(row.misses));
        let beyond = rows.split_off(limit.min(rows.len()));
        rest = beyond.iter().fold(rest, |rest, row| rest.saturating_add(row.misses));
        Self { rows, rest, total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(orphans: &Orphans, limit: usize) -> Vec<(String, u64)> {
        let report = OrphanReport::of([orphans.clone()], limit);
        let name = |row: &OrphanRow| (format!("{}{}", row.host, row.path), row.misses);
        report.rows.iter().map(name).collect()
    }

    // threats: E14
    #[test]
    fn a_host_has_a_thousand_paths_a_day_and_the_rest_is_summed() {
        let mut orphans = Orphans::default();
        for number in 0..3_000 {
            orphans.add("go.example", &format!("/{number}"), 2);
        }
        orphans.add("go.example", "/7", 1);
        orphans.add("other.example", "/7", 1);
        let report = OrphanReport::of([orphans.clone()], 5_000);
        assert_eq!(report.rows.len(), MOST_PATHS + 1);
        assert_eq!((report.rest, report.total), (4_000, 6_002));
        assert_eq!(rows(&orphans, 1), [("go.example/7".to_owned(), 3)]);
        assert_eq!(OrphanReport::of([orphans], 1).rest, 5_999);
    }

    // threats: E14
    #[test]
    fn any_number_of_hosts_and_any_path_take_bounded_memory() {
        let mut orphans = Orphans::default();
        for number in 0..100 {
            for path in 0..300 {
                orphans.add(&format!("{number}.example"), &format!("/{path}"), 1);
            }
        }
        let report = OrphanReport::of([orphans.clone()], usize::MAX);
        assert_eq!((report.rows.len(), report.rest), (MOST_OF_ALL, 30_000 - 20_000));
        let mut long = Orphans::default();
        long.add("a.example", &format!("/{}", "ä".repeat(5_000)), 1);
        assert!(rows(&long, 1)[0].0.len() <= "a.example".len() + LONGEST_PATH);
    }

    #[test]
    fn orphans_come_back_from_their_sums_and_merged_ones_add_up() {
        let mut orphans = Orphans::default();
        for number in 0..1_500 {
            orphans.add("go.example", &format!("/a/{number}"), 1);
        }
        orphans.add("b.example", "/", 4);
        let sums = DaySums::decode(&orphans.to_sums().encode()).unwrap();
        assert_eq!(Orphans::from_sums(&sums), orphans);
        let mut twice = orphans.clone();
        twice.merge(&orphans);
        let (once, twice) = (OrphanReport::of([orphans], 9), OrphanReport::of([twice], 9));
        assert_eq!(twice.total, 2 * once.total);
        assert_eq!(twice.rows[0].misses, 8);
        assert!(Orphans::from_sums(&DaySums::default()).is_empty());
    }
}
