//! Places by a geo file, by a trusted proxy, and by the data that are compiled in.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kurz_core::analytics::{EventBatch, TextColumn};
use kurz_core::time::Timestamp;
use kurz_test_support::mmdb::{GeoNet, city_file, geo_file};

use super::{SEED, TestRequest, classify};
use crate::clicks::classify::geo_file::GeoFile;
use crate::clicks::classify::{Classifier, ClassifierSettings};

const BERLIN: GeoNet<'static> =
    GeoNet { net: "198.51.100.0/24", country: "DE", region: Some("BE"), city: Some("Berlin") };
const VIENNA: GeoNet<'static> =
    GeoNet { net: "2001:db8:7::/48", country: "AT", region: Some("9"), city: Some("Vienna") };

fn nets() -> [GeoNet<'static>; 4] {
    [
        GeoNet::country("198.51.0.0/16", "FR"),
        BERLIN,
        VIENNA,
        // Otherwise Dutch.
        GeoNet::country("193.0.6.139/32", "LU"),
    ]
}

fn with_file(path: &Path) -> Classifier {
    let geo_file = Some(path.to_owned());
    Classifier::new(ClassifierSettings { seed: SEED, geo_file, ..Default::default() }).unwrap()
}

fn place(batch: &EventBatch, event: usize) -> [&str; 3] {
    [TextColumn::Country, TextColumn::Region, TextColumn::City]
        .map(|column| batch.text(column, event))
}

fn find(classifier: &mut Classifier, address: &str, country: &[u8]) -> [String; 3] {
    let batch = classify(classifier, &[TestRequest { address, country, ..Default::default() }]);
    place(&batch, 0).map(str::to_owned)
}

#[test]
fn places_of_the_file_win_over_countries_that_are_compiled_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("places.mmdb");
    std::fs::write(&path, city_file(1, &nets())).unwrap();
    let cases = [
        ("198.51.100.7", ["DE", "DE-BE", "Berlin"]),
        ("198.51.101.7", ["FR", "", ""]),
        ("::ffff:198.51.100.7", ["DE", "DE-BE", "Berlin"]),
        ("2001:db8:7:1::1", ["AT", "AT-9", "Vienna"]),
        ("2001:db8:8::1", ["", "", ""]),
        ("193.0.6.139", ["LU", "", ""]),
        // The file does not know it.
        ("8.8.8.8", ["US", "", ""]),
        ("10.0.0.1", ["", "", ""]),
        ("", ["", "", ""]),
    ];
    let requests = cases.map(|(address, _)| TestRequest { address, ..Default::default() });
    let mut classifier = with_file(&path);
    // A second time, from the cache.
    for _ in 0..2 {
        let batch = classify(&mut classifier, &requests);
        for (event, (address, expected)) in cases.into_iter().enumerate() {
            assert_eq!(place(&batch, event), expected, "{address}");
        }
    }
}

#[test]
fn a_trusted_proxys_country_wins_and_keeps_only_places_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("places.mmdb");
    std::fs::write(&path, city_file(1, &nets())).unwrap();
    let mut classifier = with_file(&path);
    let berlin = "198.51.100.7";
    assert_eq!(find(&mut classifier, berlin, b"DE"), ["DE", "DE-BE", "Berlin"]);
    assert_eq!(find(&mut classifier, berlin, b"CH"), ["CH", "", ""]);
    assert_eq!(find(&mut classifier, "", b"CH"), ["CH", "", ""]);
    for none in [b"XX", b"T1", b"\xff\x00"] {
        assert_eq!(find(&mut classifier, berlin, none), ["DE", "DE-BE", "Berlin"]);
    }
}

#[test]
fn a_file_that_changes_is_read_again_and_a_broken_one_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("places.mmdb");
    std::fs::write(&path, city_file(1, &[BERLIN])).unwrap();
    let mut classifier = with_file(&path);
    let file = classifier.geo_file().unwrap();
    let mut berlin = || find(&mut classifier, "198.51.100.7", b"");
    assert_eq!(berlin(), ["DE", "DE-BE", "Berlin"]);

    let replace = |bytes: &[u8]| {
        let new = folder.path().join("new");
        std::fs::write(&new, bytes).unwrap();
        std::fs::rename(&new, &path).unwrap();
    };
    replace(&city_file(2_000_000, &[GeoNet { city: Some("Potsdam"), ..BERLIN }]));
    file.look();
    assert_eq!(berlin()[2], "Berlin", "it may still be written to");
    file.look();
    assert_eq!(berlin()[2], "Potsdam");
    assert_eq!(file.built_at(), Timestamp::from_ms(2_000_000_000));

    for broken in [&b""[..], b"not a geo file", &city_file(3, &[BERLIN])[..100]] {
        replace(broken);
        for _ in 0..3 {
            file.look();
        }
        assert_eq!(berlin()[2], "Potsdam");
    }
    std::fs::remove_file(&path).unwrap();
    for _ in 0..3 {
        file.look();
    }
    assert_eq!(berlin()[2], "Potsdam");

    replace(&city_file(4, &[BERLIN]));
    for _ in 0..2 {
        file.look();
    }
    assert_eq!(berlin()[2], "Berlin");
}

#[tokio::test(start_paused = true)]
async fn the_file_is_followed_until_the_server_stops() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("places.mmdb");
    std::fs::write(&path, city_file(1, &[BERLIN])).unwrap();
    let file = Arc::new(GeoFile::open(&path).unwrap());
    let stop = tokio_util::sync::CancellationToken::new();
    std::fs::write(&path, city_file(5, &[BERLIN])).unwrap();
    let changed = async {
        // The clock is paused: this takes as long as the file is not read.
        while file.built_at() != Timestamp::from_ms(5_000) {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        stop.cancel();
    };
    tokio::join!(Arc::clone(&file).follow(stop.clone()), changed);
}

#[test]
fn a_missing_or_useless_file_is_refused_with_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("places.mmdb");
    let refused = || GeoFile::open(&path).unwrap_err().to_string();
    let missing = refused();
    assert!(missing.contains("places.mmdb") && missing.contains("KURZ_GEO_FILE"), "{missing}");
    std::fs::write(&path, b"not a geo file").unwrap();
    assert!(refused().contains("MMDB"));
    std::fs::write(&path, geo_file("Test-ASN", 1, &[BERLIN])).unwrap();
    assert!(refused().contains("holds no places"));
    let settings = ClassifierSettings { geo_file: Some(path), ..Default::default() };
    assert!(Classifier::new(settings).is_err());
}

#[test]
fn data_of_more_than_sixty_days_are_old() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("places.mmdb");
    std::fs::write(&path, city_file(1_000, &[BERLIN])).unwrap();
    let file = GeoFile::open(&path).unwrap();
    let day = Duration::from_hours(24);
    let built_at = Timestamp::from_ms(1_000_000);
    assert!(!file.is_old(built_at.plus(60 * day)));
    assert!(file.is_old(built_at.plus(61 * day)));
    assert!(!file.is_old(Timestamp::from_ms(0)), "a clock that is set back says nothing");
}

#[test]
fn damaged_data_give_no_place_and_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("places.mmdb");
    let good = city_file(1, &nets());
    let marker = good.windows(4).position(|window| window == b"\xab\xcd\xefM").unwrap();
    for at in (0..marker).step_by(7) {
        let mut bytes = good.clone();
        bytes[at] ^= 0xff;
        std::fs::write(&path, &bytes).unwrap();
        let Ok(file) = GeoFile::open(&path) else { continue };
        for address in ["198.51.100.7", "193.0.6.139", "2001:db8:7::1", "8.8.8.8"] {
            file.current().place(address.parse().unwrap());
        }
    }
}
