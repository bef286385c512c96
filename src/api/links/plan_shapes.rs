//! The shapes of a plan's parts for the API's document; they are read by `kurz_core::plan`.
#![expect(dead_code, reason = "for the API's document only")]

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

/// A rule: exactly one of `to`, `split` and `block`.
#[derive(Serialize, ToSchema)]
pub(crate) struct RuleBody {
    /// Shown in results; 1 to 60 characters, each once in a link.
    name: Option<String>,
    /// It is passed over.
    paused: Option<bool>,
    /// When it applies; empty or left out: always.
    when: Option<WhenBody>,
    /// `match`: a test on an unknown value holds.
    #[schema(pattern = "^match$")]
    unknown: Option<String>,
    /// Where it leads.
    to: Option<String>,
    /// A list of variants, or an object with `variants`, `ends_at`, `winner` and `seed`.
    split: Option<SplitBody>,
    /// 403, 404 or 451.
    block: Option<u16>,
}

/// Tests of which all must hold; of a list one value.
#[derive(Serialize, ToSchema)]
pub(crate) struct WhenBody {
    /// `phone`, `tablet`, `desktop`, `tv`, `console`, `wearable`.
    device: Option<Vec<String>>,
    /// `ios`, `android`, `windows`, `macos`, `linux`, `chromeos`, `other`.
    os: Option<Vec<String>>,
    /// `chrome`, `safari`, `firefox`, `edge`, `samsung`, `opera`, `other`.
    browser: Option<Vec<String>>,
    /// Apps whose built-in browser it is, or `true` for any.
    in_app: Option<InAppBody>,
    /// Languages, such as `de` or `fr-CH`.
    language: Option<Vec<String>>,
    /// ISO 3166-1.
    country: Option<Vec<String>>,
    /// ISO 3166-2.
    region: Option<Vec<String>>,
    /// `AF`, `AN`, `AS`, `EU`, `NA`, `OC`, `SA`.
    continent: Option<Vec<String>>,
    /// In the European Union, or not.
    eu: Option<bool>,
    /// Networks, such as `192.0.2.0/24`.
    network: Option<Vec<String>>,
    /// Parameters: a text, `pre*`, `true` (any value) or null (no value).
    #[schema(value_type = Option<Object>)]
    query: Option<BTreeMap<String, String>>,
    /// Hosts, suffixes (`.example`) or `channel:social`.
    referrer: Option<Vec<String>>,
    /// From this time on.
    #[schema(format = "date-time")]
    from: Option<String>,
    /// Before this time.
    #[schema(format = "date-time")]
    to_time: Option<String>,
    /// `mon` to `sun`.
    days: Option<Vec<String>>,
    /// `09:00-17:30`; may pass midnight.
    hours: Option<String>,
    /// The time zone of days and hours; without it UTC.
    zone: Option<String>,
    /// `first` or `returning`.
    visitor: Option<String>,
    /// Whether a QR code was scanned.
    qr: Option<bool>,
    /// Objects of such tests, of which one must hold.
    #[schema(value_type = Option<Vec<Object>>)]
    any: Option<Vec<String>>,
    /// An object of such tests that must not hold.
    #[schema(value_type = Option<Object>)]
    not: Option<String>,
}

/// A split that ends, or is drawn anew.
#[derive(Serialize, ToSchema)]
pub(crate) struct SplitObjectBody {
    variants: Vec<VariantBody>,
    /// From then on everybody gets the winner.
    #[schema(format = "date-time")]
    ends_at: Option<String>,
    /// The name of a variant.
    winner: Option<String>,
    /// `fresh` draws the variants of visitors anew.
    #[schema(pattern = "^fresh$")]
    seed: Option<String>,
}

/// A variant of a split.
#[derive(Serialize, ToSchema)]
pub(crate) struct VariantBody {
    /// Shown in results.
    name: String,
    /// 0 (paused) to 10,000.
    weight: u16,
    /// Where it leads.
    to: String,
}

/// Texts with placeholders such as `{code}`.
#[derive(Serialize, ToSchema)]
pub(crate) struct UtmBody {
    source: Option<String>,
    medium: Option<String>,
    campaign: Option<String>,
    term: Option<String>,
    content: Option<String>,
}

/// Apps that open the link.
#[derive(Serialize, ToSchema)]
pub(crate) struct AppBody {
    ios: Option<IosBody>,
    android: Option<AndroidBody>,
}

/// An app of iOS.
#[derive(Serialize, ToSchema)]
pub(crate) struct IosBody {
    app_id: String,
    path: Option<String>,
    store_url: Option<String>,
}

/// An app of Android.
#[derive(Serialize, ToSchema)]
pub(crate) struct AndroidBody {
    package: String,
    /// Fingerprints of its certificates.
    sha256: Option<Vec<String>>,
    path: Option<String>,
    store_url: Option<String>,
}

/// A page before the target, in the link's own words.
#[derive(Serialize, ToSchema)]
pub(crate) struct ConsentObjectBody {
    #[schema(max_length = 2000)]
    text: Option<String>,
    button: Option<String>,
    /// `once` or `always`.
    #[schema(pattern = "^(once|always)$")]
    show: Option<String>,
}

/// What previews of a link show.
#[derive(Serialize, ToSchema)]
pub(crate) struct CardBody {
    #[schema(max_length = 200)]
    title: Option<String>,
    #[schema(max_length = 500)]
    description: Option<String>,
    #[schema(max_length = 2048)]
    image_url: Option<String>,
}

/// A list of variants, or an object with more about the split.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum SplitBody {
    Variants(Vec<VariantBody>),
    Split(SplitObjectBody),
}

/// `always`, `once`, or an object with a text.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum ConsentBody {
    Show(String),
    Page(ConsentObjectBody),
}

/// Names of apps, or `true` for any.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum InAppBody {
    Any(bool),
    Apps(Vec<String>),
}
