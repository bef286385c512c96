//! From queued clicks to events: user agent, referrer, query, language and network of each click become the
//! texts that analytics group and filter by. It runs on the thread of the click writer, never on a worker.
//!
//! The work is done for each distinct text of a batch, not for each click, and what user agents and networks
//! stand for is cached across batches. Nothing here fails: what cannot be told is unknown.
//!
//! Invariants: no address leaves this module, and none is kept in it. Of a visitor who asked not to be
//! tracked there is nothing but the link, the time, the host, the class and the answer.

pub mod agent;
pub mod shared_agent_parser;
mod bots;
pub mod campaign;
pub mod channel;
mod columns;
mod country;
mod device;
pub mod geo_file;
mod text;
mod visitor;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use compact_str::CompactString;
use kurz_core::analytics::{Class, EventBatch, PRIVATE, TextColumn, UNKNOWN};
use kurz_core::clicks::{Click, ClickAnswer, ClickFlags, QueuedClicks, language_text};
use kurz_core::link::LinkId;
use quick_cache::unsync::Cache;
use xxhash_rust::xxh64::xxh64;

use self::agent::{AGENT_COLUMNS, AgentFacts};
use self::campaign::{CAMPAIGN_COLUMNS, Campaign};
use self::channel::{CampaignMarks, Channel, ChannelTable, ChannelsError, Referrer, channel_of};
use self::columns::{ColumnTexts, EventRow, set};
pub(crate) use self::country::place_of;
use self::country::{PlaceId, Places, country_of_proxy};
use self::geo_file::{GeoFile, GeoFileError};
use self::shared_agent_parser::SharedAgentParser;
use self::text::clean;
use self::visitor::{class_of, is_same_host, visitor_of, without_www};
use crate::clicks::ClickClassifier;

/// User agents whose meaning is cached: about 4 MiB.
const CACHED_AGENTS: usize = 16_384;
/// The most bytes of a host.
const LONGEST_HOST: usize = 255;
/// Clicks after which it looks whether it is late.
const CLICKS_AT_ONCE: usize = 1_024;

/// What a [`Classifier`] is made from.
#[derive(Clone, Debug, Default)]
pub struct ClassifierSettings {
    /// Must be random: caches are looked up by hashes under it.
    pub seed: u64,
    /// The host of the server's public address: clicks from its pages are internal.
    pub own_host: Option<String>,
    /// The operator's table of channels.
    pub channels: Option<PathBuf>,
    /// The operator's file of places.
    pub geo_file: Option<PathBuf>,
}

/// Why clicks cannot be classified with these settings.
#[derive(Debug, thiserror::Error)]
pub enum ClassifierError {
    #[error(transparent)]
    Channels(#[from] ChannelsError),
    #[error(transparent)]
    GeoFile(#[from] GeoFileError),
}

/// Makes events of clicks.
pub struct Classifier {
    seed: u64,
    own_host: Option<String>,
    channels: Arc<ChannelTable>,
    places: Places,
    /// Compiled when the first user agent is looked at.
    parser: Arc<SharedAgentParser>,
    /// By the hash of the user agent.
    agents: Cache<u64, Arc<AgentFacts>>,
    columns: ColumnTexts,
    tables: BatchTables,
}

impl std::fmt::Debug for Classifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Classifier").field("agents", &self.agents.len()).finish_non_exhaustive()
    }
}

/// What the texts of one batch stand for, as indexes in the columns of its events. Texts are looked at when
/// the first click refers to them.
#[derive(Debug, Default)]
struct BatchTables {
    agents: Vec<Option<AgentCells>>,
    referrers: Vec<Option<ReferrerCells>>,
    queries: Vec<Option<QueryCells>>,
    hosts: Vec<Option<u32>>,
    /// A few values each, with their indexes.
    classes: Vec<(Class, u32)>,
    answers: Vec<(ClickAnswer, u32)>,
    channels: Vec<(Channel, u32)>,
    triggers: Vec<(Channel, u32)>,
    languages: HashMap<u32, u32>,
    places: HashMap<(PlaceId, u16), [u32; 3]>,
}

#[derive(Clone, Copy, Debug)]
struct AgentCells {
    bot: Option<Class>,
    cells: [u32; AGENT_COLUMNS.len()],
}

#[derive(Clone, Copy, Debug)]
struct ReferrerCells {
    cell: u32,
    referrer: Referrer,
}

#[derive(Clone, Copy, Debug)]
struct QueryCells {
    cells: [u32; CAMPAIGN_COLUMNS.len()],
    marks: CampaignMarks,
}

impl BatchTables {
    fn begin(&mut self, texts: usize) {
        reset(&mut self.agents, texts);
        reset(&mut self.referrers, texts);
        reset(&mut self.queries, texts);
        reset(&mut self.hosts, texts);
        self.classes.clear();
        self.answers.clear();
        self.channels.clear();
        self.triggers.clear();
        self.languages.clear();
        self.places.clear();
    }
}

fn reset<T: Clone>(table: &mut Vec<Option<T>>, texts: usize) {
    table.clear();
    // The text 0 is that which is not there.
    table.resize(texts + 1, None);
}

/// The entry of a text, if it was looked at.
fn known<T: Copy>(table: &[Option<T>], text: u16) -> Option<T> {
    table.get(usize::from(text)).copied().flatten()
}

/// The index of one of a few values.
fn cell_of<T: Copy + PartialEq>(
    cells: &mut Vec<(T, u32)>,
    value: T,
    add: impl FnOnce() -> u32,
) -> u32 {
    if let Some((_, cell)) = cells.iter().find(|(known, _)| *known == value) {
        return *cell;
    }
    let cell = add();
    cells.push((value, cell));
    cell
}

fn remember<T>(table: &mut [Option<T>], text: u16, entry: T) {
    if let Some(place) = table.get_mut(usize::from(text)) {
        *place = Some(entry);
    }
}

impl Classifier {
    /// Read the operator's files. The rules for user agents are compiled later.
    pub fn new(settings: ClassifierSettings) -> Result<Self, ClassifierError> {
        let ClassifierSettings { seed, own_host, channels, geo_file } = settings;
        let channels = match channels {
            Some(path) => ChannelTable::with_file(&path)?,
            None => ChannelTable::builtin(),
        };
        let file = geo_file.map(|path| GeoFile::open(&path)).transpose()?.map(Arc::new);
        Ok(Self {
            seed,
            own_host,
            channels: Arc::new(channels),
            places: Places::new(seed, file),
            parser: Arc::default(),
            agents: Cache::new(CACHED_AGENTS),
            columns: ColumnTexts::default(),
            tables: BatchTables::default(),
        })
    }

    /// The operator's file of places.
    pub fn geo_file(&self) -> Option<Arc<GeoFile>> {
        self.places.file().cloned()
    }

    /// The channels of hosts.
    pub fn channels(&self) -> Arc<ChannelTable> {
        Arc::clone(&self.channels)
    }

    /// The parser of user agents.
    pub fn agent_parser(&self) -> Arc<SharedAgentParser> {
        Arc::clone(&self.parser)
    }

    /// Add an event to `out` for each click whose details are kept. `keys` gives the key of the workspace of
    /// a link; a click on a link without one gives no event.
    pub fn classify(
        &mut self,
        queued: &QueuedClicks,
        keys: &dyn Fn(LinkId) -> Option<u64>,
        out: &mut EventBatch,
    ) {
        self.classify_until(queued, keys, &|| false, out);
    }

    /// The same until `is_late`; how many clicks were looked at.
    fn classify_until(
        &mut self,
        queued: &QueuedClicks,
        keys: &dyn Fn(LinkId) -> Option<u64>,
        is_late: &dyn Fn() -> bool,
        out: &mut EventBatch,
    ) -> usize {
        if queued.clicks.is_empty() {
            return 0;
        }
        self.places.begin();
        self.columns.begin(out);
        self.tables.begin(queued.texts.len());
        let unknown = self.columns.row(out, UNKNOWN);
        let mut private = None;
        reserve(out, queued.clicks.len());
        for (number, click) in queued.clicks.iter().enumerate() {
            if number % CLICKS_AT_ONCE == CLICKS_AT_ONCE - 1 && is_late() {
                return number;
            }
            if !click.flags.has(ClickFlags::DETAILS) {
                continue;
            }
            let Some(key) = keys(click.link) else { continue };
            let flags = click.flags;
            let is_private = flags.has(ClickFlags::PRIVATE) || flags.has(ClickFlags::EXCLUDED);
            let (row, visitor) = if is_private {
                let row = *private.get_or_insert_with(|| self.columns.row(out, PRIVATE));
                (self.common_row(queued, click, None, row, out), 0)
            } else {
                (self.row(queued, click, unknown, out), visitor_of(click.person, key))
            };
            out.links.push(click.link);
            out.times.push(click.at);
            out.visitors.push(visitor);
            out.nanos.push(click.nanos);
            out.counts.push(1);
            for (values, index) in out.texts.iter_mut().zip(row) {
                values.indexes.push(index);
            }
        }
        queued.clicks.len()
    }

    /// What is kept of any click.
    fn common_row(
        &mut self,
        queued: &QueuedClicks,
        click: &Click,
        bot: Option<Class>,
        mut row: EventRow,
        out: &mut EventBatch,
    ) -> EventRow {
        let host = self.host(queued, click.host, out);
        set(&mut row, TextColumn::Host, host);
        let class = class_of(click.flags, bot);
        let class = cell_of(&mut self.tables.classes, class, || {
            self.columns.index(out, TextColumn::Class, class.name())
        });
        set(&mut row, TextColumn::Class, class);
        let answer = cell_of(&mut self.tables.answers, click.answer, || {
            self.columns.index(out, TextColumn::Answer, click.answer.name())
        });
        set(&mut row, TextColumn::Answer, answer);
        row
    }

    fn row(
        &mut self,
        queued: &QueuedClicks,
        click: &Click,
        unknown: EventRow,
        out: &mut EventBatch,
    ) -> EventRow {
        let agent = self.agent(queued, click.agent, out);
        let mut row = self.common_row(queued, click, agent.bot, unknown, out);
        for (column, cell) in AGENT_COLUMNS.into_iter().zip(agent.cells) {
            set(&mut row, column, cell);
        }
        let mut referrer = self.referrer(queued, click.referrer, out);
        set(&mut row, TextColumn::Referrer, referrer.cell);
        if click.referrer != 0 && is_same_host(queued, click) {
            referrer.referrer = Referrer::Internal;
        }
        let query = (click.query != 0).then(|| self.query(queued, click.query, out));
        let marks = query.map(|query| query.marks).unwrap_or_default();
        if let Some(query) = query {
            for ((_, column), cell) in CAMPAIGN_COLUMNS.into_iter().zip(query.cells) {
                set(&mut row, column, cell);
            }
        }
        let channel = channel_of(referrer.referrer, marks);
        let channel = cell_of(&mut self.tables.channels, channel, || {
            self.columns.index(out, TextColumn::Channel, channel.name())
        });
        set(&mut row, TextColumn::Channel, channel);
        let trigger = if marks.is_qr { Channel::Qr } else { Channel::Direct };
        let trigger = cell_of(&mut self.tables.triggers, trigger, || {
            self.columns.index(out, TextColumn::Trigger, trigger.name())
        });
        set(&mut row, TextColumn::Trigger, trigger);
        if click.language != 0 {
            let language = self.language(click.language, out);
            set(&mut row, TextColumn::Language, language);
        }
        if click.net != 0 || click.country != 0 {
            let [country, region, city] = self.place(click, out);
            set(&mut row, TextColumn::Country, country);
            set(&mut row, TextColumn::Region, region);
            set(&mut row, TextColumn::City, city);
        }
        // Numbers, for which `link_info` puts names.
        if click.rule != 0 {
            let rule = self.columns.index(out, TextColumn::Rule, &click.rule.to_string());
            set(&mut row, TextColumn::Rule, rule);
        }
        if click.variant != 0 {
            let text = format!("{}.{}", click.rule, click.variant);
            let variant = self.columns.index(out, TextColumn::Variant, &text);
            set(&mut row, TextColumn::Variant, variant);
        }
        row
    }

    fn host(&mut self, queued: &QueuedClicks, text: u16, out: &mut EventBatch) -> u32 {
        if let Some(cell) = known(&self.tables.hosts, text) {
            return cell;
        }
        let host = clean(queued.texts.get(text), LONGEST_HOST);
        let cell = self.columns.index(out, TextColumn::Host, &host);
        remember(&mut self.tables.hosts, text, cell);
        cell
    }

    fn agent(&mut self, queued: &QueuedClicks, text: u16, out: &mut EventBatch) -> AgentCells {
        if let Some(cells) = known(&self.tables.agents, text) {
            return cells;
        }
        let facts = self.agent_facts(queued.texts.get(text));
        let mut cells = [0; AGENT_COLUMNS.len()];
        for ((cell, column), text) in cells.iter_mut().zip(AGENT_COLUMNS).zip(&facts.texts) {
            *cell = self.columns.index(out, column, text);
        }
        let cells = AgentCells { bot: facts.bot, cells };
        remember(&mut self.tables.agents, text, cells);
        cells
    }

    fn agent_facts(&mut self, agent: &[u8]) -> Arc<AgentFacts> {
        if agent.is_empty() {
            return Arc::default();
        }
        let hash = xxh64(agent, self.seed);
        if let Some(facts) = self.agents.get(&hash) {
            return Arc::clone(facts);
        }
        let facts = Arc::new(self.parser.get().parse(agent));
        self.agents.insert(hash, Arc::clone(&facts));
        facts
    }

    fn referrer(
        &mut self,
        queued: &QueuedClicks,
        text: u16,
        out: &mut EventBatch,
    ) -> ReferrerCells {
        if let Some(cells) = known(&self.tables.referrers, text) {
            return cells;
        }
        let host = clean(queued.texts.get(text), LONGEST_HOST);
        let referrer = if host.is_empty() {
            Referrer::None
        } else if self
            .own_host
            .as_ref()
            .is_some_and(|own| without_www(own.as_bytes()) == host.as_bytes())
        {
            Referrer::Internal
        } else {
            Referrer::Host(self.channels.of_host(&host))
        };
        let cell = self.columns.index(out, TextColumn::Referrer, &host);
        let cells = ReferrerCells { cell, referrer };
        remember(&mut self.tables.referrers, text, cells);
        cells
    }

    fn query(&mut self, queued: &QueuedClicks, text: u16, out: &mut EventBatch) -> QueryCells {
        if let Some(cells) = known(&self.tables.queries, text) {
            return cells;
        }
        let campaign = Campaign::read(queued.texts.get(text));
        let marks = CampaignMarks::of(&campaign, &self.channels);
        let mut cells = [0; CAMPAIGN_COLUMNS.len()];
        for ((cell, (_, column)), text) in
            cells.iter_mut().zip(CAMPAIGN_COLUMNS).zip(&campaign.texts)
        {
            *cell = self.columns.index(out, column, text);
        }
        let cells = QueryCells { cells, marks };
        remember(&mut self.tables.queries, text, cells);
        cells
    }

    fn language(&mut self, code: u32, out: &mut EventBatch) -> u32 {
        if let Some(cell) = self.tables.languages.get(&code) {
            return *cell;
        }
        let cell = self.columns.index(out, TextColumn::Language, &language_text(code));
        self.tables.languages.insert(code, cell);
        cell
    }

    /// The cells of country, region and city. What a trusted proxy says of the country wins; region and city
    /// are then known only if they are in that country.
    fn place(&mut self, click: &Click, out: &mut EventBatch) -> [u32; 3] {
        let id = self.places.find(click.net, click.flags.has(ClickFlags::V6));
        if let Some(cells) = self.tables.places.get(&(id, click.country)) {
            return *cells;
        }
        let mut place = self.places.get(id);
        if let Some(letters) = country_of_proxy(click.country) {
            let country = CompactString::from_utf8_lossy(&letters);
            if place.country != country {
                place = geo_file::Place { country, ..geo_file::Place::default() };
            }
        }
        let cells = [
            self.columns.index(out, TextColumn::Country, &place.country),
            self.columns.index(out, TextColumn::Region, &place.region),
            self.columns.index(out, TextColumn::City, &place.city),
        ];
        self.tables.places.insert((id, click.country), cells);
        cells
    }
}

impl ClickClassifier for Classifier {
    fn classify(
        &mut self,
        queued: &QueuedClicks,
        keys: &dyn Fn(LinkId) -> Option<u64>,
        is_late: &dyn Fn() -> bool,
        out: &mut EventBatch,
    ) -> usize {
        self.classify_until(queued, keys, is_late, out)
    }
}

fn reserve(out: &mut EventBatch, events: usize) {
    out.links.reserve(events);
    out.times.reserve(events);
    out.visitors.reserve(events);
    out.nanos.reserve(events);
    out.counts.reserve(events);
    for values in &mut out.texts {
        values.indexes.reserve(events);
    }
}
