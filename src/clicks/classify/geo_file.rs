//! The operator's file of places (MMDB). It is read into memory as a whole; while the program runs, it is
//! read again when it changes.
//!
//! Invariant: a file that cannot be used never replaces one that can.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use compact_str::CompactString;
use kurz_core::time::Timestamp;
use maxminddb::{MaxMindDbError, Reader};
use serde::Deserialize;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::text::{clean, cut_to};
use crate::file_version::{self, FileVersion};

/// How often the file is checked. It is read once two checks in a row saw the same version, so that a file
/// that is being written is not read.
const LOOK: Duration = Duration::from_secs(5);

/// From this age on a file is old: networks move between countries.
const OLD: Duration = Duration::from_hours(60 * 24);

/// Parts of the types of files that hold places.
const PLACE_TYPES: [&str; 4] = ["country", "city", "enterprise", "location"];

const LONGEST_NAME: usize = 64;

/// Why a file of places cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum GeoFileError {
    #[error("the geo file {path} cannot be used: {source}; put an MMDB file with countries or cities there, or remove KURZ_GEO_FILE", path = .path.display())]
    Unusable {
        path: PathBuf,
        #[source]
        source: Box<MaxMindDbError>,
    },
    #[error(
        "the geo file {path} holds no places: its type is {kind}; put an MMDB file with countries or cities \
         there, or remove KURZ_GEO_FILE",
        path = .path.display()
    )]
    NoPlaces { path: PathBuf, kind: String },
}

/// Where a network is. What is not known is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// ISO 3166-1.
    pub country: CompactString,
    /// ISO 3166-2, or the name if the file has no code.
    pub region: CompactString,
    /// Its English name, or the file's only one.
    pub city: CompactString,
}

/// A file that was read.
pub struct OpenedGeoFile {
    reader: Reader<Vec<u8>>,
    built_at: Timestamp,
}

impl std::fmt::Debug for OpenedGeoFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenedGeoFile").field("built_at", &self.built_at).finish_non_exhaustive()
    }
}

/// A record as most files have it.
#[derive(Deserialize)]
struct NestedRecord<'a> {
    #[serde(borrow)]
    country: Option<NamedPlace<'a>>,
    #[serde(borrow)]
    subdivisions: Option<Vec<NamedPlace<'a>>>,
    #[serde(borrow)]
    city: Option<NamedPlace<'a>>,
}

#[derive(Deserialize)]
struct NamedPlace<'a> {
    iso_code: Option<&'a str>,
    #[serde(borrow)]
    names: Option<PlaceNames<'a>>,
}

#[derive(Deserialize)]
struct PlaceNames<'a> {
    en: Option<&'a str>,
}

/// A record as some others have it.
#[derive(Deserialize)]
struct FlatRecord<'a> {
    country_code: Option<&'a str>,
    country: Option<&'a str>,
    city: Option<&'a str>,
}

impl OpenedGeoFile {
    fn read(path: &Path) -> Result<Self, GeoFileError> {
        let unusable =
            |source| GeoFileError::Unusable { path: path.to_owned(), source: Box::new(source) };
        let reader = Reader::open_readfile(path).map_err(unusable)?;
        let kind = reader.metadata().database_type.to_ascii_lowercase();
        if !PLACE_TYPES.iter().any(|part| kind.contains(part)) {
            return Err(GeoFileError::NoPlaces { path: path.to_owned(), kind });
        }
        let seconds = i64::try_from(reader.metadata().build_epoch).unwrap_or(i64::MAX);
        let built_at = Timestamp::from_ms(seconds.saturating_mul(1_000));
        Ok(Self { reader, built_at })
    }

    /// The place of an address, if the file knows its country.
    pub fn place(&self, address: IpAddr) -> Option<Place> {
        let found = self.reader.lookup(address).ok()?;
        if let Ok(Some(record)) = found.decode::<NestedRecord<'_>>()
            && let Some(country) = &record.country
        {
            return nested_place(country, &record);
        }
        let record = found.decode::<FlatRecord<'_>>().ok()??;
        let country = country_code(record.country_code.or(record.country)?)?;
        let city = record.city.map(name_text).unwrap_or_default();
        Some(Place { country, region: CompactString::default(), city })
    }
}

fn nested_place(country: &NamedPlace<'_>, record: &NestedRecord<'_>) -> Option<Place> {
    let country = country_code(country.iso_code?)?;
    let name =
        |place: &NamedPlace<'_>| place.names.as_ref().and_then(|names| names.en).map(name_text);
    let region = record.subdivisions.as_ref().and_then(|all| all.first()).and_then(|region| {
        match region.iso_code {
            Some(code) => Some(name_text(&format!("{country}-{code}"))),
            None => name(region),
        }
    });
    let city = record.city.as_ref().and_then(name);
    Some(Place { country, region: region.unwrap_or_default(), city: city.unwrap_or_default() })
}

fn name_text(name: &str) -> CompactString {
    clean(cut_to(name, LONGEST_NAME).as_bytes(), LONGEST_NAME)
}

/// Two letters, in upper case.
pub(super) fn country_code(text: &str) -> Option<CompactString> {
    let is_code = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    // No countries: unknown, and those of a region as a whole.
    let is_country = !["ZZ", "XX", "EU", "AP"].iter().any(|none| text.eq_ignore_ascii_case(none));
    (is_code && is_country).then(|| text.to_ascii_uppercase().into())
}

/// The file in use, shared by the writer and whoever reads it again.
#[derive(Debug)]
pub struct GeoFile {
    path: PathBuf,
    opened: ArcSwap<OpenedGeoFile>,
    looked: Mutex<LookedVersions>,
}

/// The versions at the last check, and that which was last read.
#[derive(Debug)]
struct LookedVersions {
    seen: FileVersion,
    judged: FileVersion,
}

impl GeoFile {
    /// Read the file at `path`.
    pub fn open(path: &Path) -> Result<Self, GeoFileError> {
        // Taken before reading, so that a change from now on is seen.
        let version = file_version::of(path);
        let opened = ArcSwap::from_pointee(OpenedGeoFile::read(path)?);
        let looked = Mutex::new(LookedVersions { seen: version, judged: version });
        Ok(Self { path: path.to_owned(), opened, looked })
    }

    pub fn current(&self) -> Arc<OpenedGeoFile> {
        self.opened.load_full()
    }

    /// When the data were put together.
    pub fn built_at(&self) -> Timestamp {
        self.opened.load().built_at
    }

    /// Whether the data are so old that somebody should fetch newer ones.
    pub fn is_old(&self, now: Timestamp) -> bool {
        let age = now.as_ms().saturating_sub(self.built_at().as_ms());
        u128::try_from(age).is_ok_and(|age| age > OLD.as_millis())
    }

    /// Read the file when it changes, until `stop`.
    pub async fn follow(self: Arc<Self>, stop: CancellationToken) {
        let mut ticks = interval(LOOK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = ticks.tick() => {}
            }
            let file = Arc::clone(&self);
            // A file system may block.
            if tokio::task::spawn_blocking(move || file.look()).await.is_err() {
                return;
            }
        }
    }

    /// Read the file if it changed and then stayed the same for one check.
    pub fn look(&self) {
        // Every change leaves the versions consistent.
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let version = file_version::of(&self.path);
        let is_at_rest = version == looked.seen;
        looked.seen = version;
        if !is_at_rest || version == looked.judged {
            return;
        }
        looked.judged = version;
        let outcome = match OpenedGeoFile::read(&self.path) {
            Ok(opened) => {
                let built_at = opened.built_at;
                self.opened.store(Arc::new(opened));
                tracing::info!(%built_at, "places come from the new geo file");
                "taken"
            }
            Err(error) => {
                tracing::error!(%error, "the new geo file is not used and the old one stays");
                "refused"
            }
        };
        metrics::counter!("kurz_geo_reloads_total", "outcome" => outcome).increment(1);
    }
}
