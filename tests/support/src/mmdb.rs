//! Writes geo files (MMDB) with places that a test knows.

use std::net::IpAddr;

/// A network with its place.
#[derive(Clone, Copy, Debug)]
pub struct GeoNet<'a> {
    pub net: &'a str,
    pub country: &'a str,
    /// The code of the region below the country.
    pub region: Option<&'a str>,
    pub city: Option<&'a str>,
}

impl<'a> GeoNet<'a> {
    pub fn country(net: &'a str, country: &'a str) -> Self {
        Self { net, country, region: None, city: None }
    }
}

#[derive(Clone, Copy)]
enum Record {
    Empty,
    Node(usize),
    Data(usize),
}

/// The bytes of a file of the type `kind`, put together at `built_at` (seconds since 1970). Of two networks
/// that overlap, the later one wins.
pub fn geo_file(kind: &str, built_at: u64, nets: &[GeoNet<'_>]) -> Vec<u8> {
    let mut nodes = vec![[Record::Empty; 2]];
    let mut data = Vec::new();
    for net in nets {
        let offset = data.len();
        data.extend(record(net));
        insert(&mut nodes, net.net, offset);
    }
    let count = nodes.len();
    let mut bytes = Vec::new();
    for record in nodes.iter().flatten() {
        let value = match record {
            Record::Empty => count,
            Record::Node(node) => *node,
            Record::Data(offset) => count + 16 + offset,
        };
        bytes.extend(&u32::try_from(value).unwrap().to_be_bytes()[1..]);
    }
    bytes.extend([0; 16]);
    bytes.extend(data);
    bytes.extend(b"\xab\xcd\xefMaxMind.com");
    bytes.extend(map(&[
        ("binary_format_major_version", number(5, 2)),
        ("binary_format_minor_version", number(5, 0)),
        ("build_epoch", number(9, built_at)),
        ("database_type", text(kind)),
        ("description", map(&[("en", text("made by a test"))])),
        ("ip_version", number(5, 6)),
        ("languages", array(&[text("en")])),
        ("node_count", number(6, count.try_into().unwrap())),
        ("record_size", number(5, 24)),
    ]));
    bytes
}

/// A file of cities.
pub fn city_file(built_at: u64, nets: &[GeoNet<'_>]) -> Vec<u8> {
    geo_file("Test-City", built_at, nets)
}

fn insert(nodes: &mut Vec<[Record; 2]>, net: &str, offset: usize) {
    let (address, length) = net.split_once('/').unwrap();
    let length: usize = length.parse().unwrap();
    let (bits, length) = match address.parse().unwrap() {
        // IPv4 is at the beginning of IPv6.
        IpAddr::V4(address) => (u128::from(address.to_bits()), length + 96),
        IpAddr::V6(address) => (address.to_bits(), length),
    };
    let mut node = 0;
    for depth in 0..length {
        let side = usize::from(bits >> (127 - depth) & 1 == 1);
        if depth + 1 == length {
            nodes[node][side] = Record::Data(offset);
            return;
        }
        node = match nodes[node][side] {
            Record::Node(below) => below,
            other => {
                nodes.push([other; 2]);
                let below = nodes.len() - 1;
                nodes[node][side] = Record::Node(below);
                below
            }
        };
    }
}

fn record(net: &GeoNet<'_>) -> Vec<u8> {
    let names = |name: &str| map(&[("names", map(&[("en", text(name))]))]);
    let mut fields = vec![("country", map(&[("iso_code", text(net.country))]))];
    if let Some(region) = net.region {
        fields.push(("subdivisions", array(&[map(&[("iso_code", text(region))])])));
    }
    if let Some(city) = net.city {
        fields.push(("city", names(city)));
    }
    map(&fields)
}

/// A control byte with its type and size; types from 8 on take a second byte.
fn control(kind: u8, size: usize) -> Vec<u8> {
    let (size, more) = if size < 29 {
        (u8::try_from(size).unwrap(), None)
    } else {
        (29, Some(u8::try_from(size - 29).unwrap()))
    };
    let mut bytes = if kind < 8 { vec![kind << 5 | size] } else { vec![size, kind - 7] };
    bytes.extend(more);
    bytes
}

fn text(text: &str) -> Vec<u8> {
    [control(2, text.len()), text.as_bytes().to_vec()].concat()
}

fn number(kind: u8, value: u64) -> Vec<u8> {
    let bytes = value.to_be_bytes();
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    [control(kind, bytes.len() - zeros), bytes[zeros..].to_vec()].concat()
}

fn map(fields: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let fields_bytes = fields.iter().flat_map(|(name, value)| [text(name), value.clone()]);
    [control(7, fields.len()), fields_bytes.collect::<Vec<_>>().concat()].concat()
}

fn array(values: &[Vec<u8>]) -> Vec<u8> {
    [control(11, values.len()), values.concat()].concat()
}
