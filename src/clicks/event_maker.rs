//! Makes events of queued clicks: looks their links up, has them classified, removes what a narrower mode does
//! not keep, and encodes them. On a thread of its own; when that is late, clicks are counted, and their details are
//! dropped.

use std::borrow::Cow;
use std::fmt;
use std::mem;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::clicks::FLUSH_EVERY;
use crate::clicks::link_info::{AskedLink, LinkInfoCache, LinkInfos};
use crate::store::Store;
use kurz_core::analytics::block::encode_row;
use kurz_core::analytics::{AnalyticsMode, BatchBuilder, Class, CountedClicks, EventBatch};
use kurz_core::clicks::planner::{BatchDetails, COUNTED_PER_ROW, EncodedEvents};
use kurz_core::clicks::totals::{merge, push};
use kurz_core::clicks::{Click, ClickFlags, ClickTotals, QueuedClicks};
use kurz_core::link::LinkId;
use kurz_core::time::Timestamp;

/// How long the classification of a batch may take: its clicks are not safe before.
const PATIENCE: Duration = FLUSH_EVERY;

/// Appends an event for each click that has the flag `DETAILS` and a key of its workspace, until `is_late`; how
/// many clicks it looked at.
pub trait ClickClassifier: fmt::Debug + Send {
    fn classify(
        &mut self,
        queued: &QueuedClicks,
        keys: &dyn Fn(LinkId) -> Option<u64>,
        is_late: &dyn Fn() -> bool,
        out: &mut EventBatch,
    ) -> usize;
}

#[derive(Debug)]
pub(super) struct EventMaker {
    classification: ClassificationThread,
    links: LinkInfoCache,
}

impl EventMaker {
    pub(super) fn new(classifier: Box<dyn ClickClassifier>, mode: AnalyticsMode) -> Self {
        let classification = ClassificationThread::start(classifier);
        Self { classification, links: LinkInfoCache::new(mode) }
    }

    pub(super) fn forget_modes(&mut self) {
        self.links.clear();
    }

    /// Add the details of `queued` to `details`; of its texts and addresses nothing is left afterwards.
    pub(super) async fn describe(
        &mut self,
        queued: &mut QueuedClicks,
        details: &mut BatchDetails,
        store: &Store,
        now: Timestamp,
    ) {
        let links = asked_links(queued);
        if links.is_empty() {
            return queued.clear();
        }
        let (infos, failure) = self.links.learn(&links, store, now).await;
        if let Some(error) = failure {
            tracing::debug!(%error, "links of clicks could not be looked up");
            count_only(queued, details, "store", |link| infos.is_unknown(link));
        }
        let until = Instant::now() + PATIENCE;
        let unclassified = Classification { queued: mem::take(queued), infos, until };
        match self.classification.run(unclassified).await {
            Ok(Classified { emptied, row, rest }) => {
                *queued = emptied;
                details.rows.extend(row);
                count_clicks(&rest, details, "behind");
            }
            Err(unclassified) => {
                if let Some(Classification { queued, infos, .. }) = unclassified {
                    let is_known = |link| !infos.is_unknown(link);
                    count_only(&queued, details, "failed", is_known);
                }
            }
        }
    }
}

/// A thread that classifies batches of clicks, one at a time. It ends with this handle. Its priority is that of the
/// others: clicks are not safe before their batch is classified.
#[derive(Debug)]
struct ClassificationThread(mpsc::Sender<(Classification, oneshot::Sender<Classified>)>);

impl ClassificationThread {
    fn start(mut classifier: Box<dyn ClickClassifier>) -> Self {
        let (batches, mut waiting) =
            mpsc::channel::<(Classification, oneshot::Sender<Classified>)>(1);
        let run = move || {
            while let Some((batch, reply)) = waiting.blocking_recv() {
                let _ = reply.send(batch.run(&mut *classifier));
            }
        };
        let thread = std::thread::Builder::new().name("kurz-classify".to_owned()).spawn(run);
        if let Err(error) = thread {
            tracing::error!(%error, "no thread classifies clicks: they are only counted");
        }
        Self(batches)
    }

    /// The batch comes back when classification has failed before.
    async fn run(&self, batch: Classification) -> Result<Classified, Option<Classification>> {
        let (reply, classified) = oneshot::channel();
        if let Err(mpsc::error::SendError((batch, _))) = self.0.send((batch, reply)).await {
            return Err(Some(batch));
        }
        classified.await.map_err(|_| {
            tracing::error!("classifying clicks failed: from now on they are only counted");
            None
        })
    }
}

/// One batch on its way through another thread.
struct Classification {
    queued: QueuedClicks,
    infos: LinkInfos,
    until: Instant,
}

struct Classified {
    emptied: QueuedClicks,
    row: Option<EncodedEvents>,
    /// Clicks with details for which there was no time.
    rest: Vec<Click>,
}

impl Classification {
    fn run(self, classifier: &mut dyn ClickClassifier) -> Classified {
        let Self { mut queued, infos, until } = self;
        infos.exclude(&mut queued.clicks);
        infos.honour_wishes(&mut queued.clicks);
        let mut batch = EventBatch::default();
        let key = |link| infos.workspace_key(link);
        let done = classifier.classify(&queued, &key, &|| Instant::now() >= until, &mut batch);
        let rest = queued.clicks.iter().skip(done).filter(|click| key(click.link).is_some());
        let rest = rest.filter(|click| click.flags.has(ClickFlags::DETAILS)).map(bare).collect();
        infos.name_choices(&mut batch);
        queued.clear();
        let batch = narrowed(batch, &infos);
        let row = (!batch.is_empty()).then(|| EncodedEvents {
            events: u32::try_from(batch.len()).unwrap_or(u32::MAX),
            data: encode_row(&batch),
        });
        Classified { emptied: queued, row, rest }
    }
}

/// What is counted of a click.
fn bare(click: &Click) -> Click {
    let Click { link, at, nanos, flags, answer, .. } = *click;
    Click { flags, answer, ..Click::new(link, at, nanos) }
}

/// What the modes of the links keep.
fn narrowed(batch: EventBatch, infos: &LinkInfos) -> EventBatch {
    if batch.links.iter().all(|link| infos.mode(*link) == AnalyticsMode::Events) {
        return batch;
    }
    let mut builder = BatchBuilder::default();
    for mode in AnalyticsMode::ALL {
        let of_mode =
            |event: &usize| batch.links.get(*event).map(|link| infos.mode(*link)) == Some(mode);
        let events: Vec<usize> = (0..batch.len()).filter(of_mode).collect();
        builder.add(&batch, &events, mode);
    }
    builder.finish()
}

/// The links of clicks with details, which are sorted by link.
fn asked_links(queued: &QueuedClicks) -> Vec<AskedLink> {
    let mut links: Vec<AskedLink> = Vec::new();
    for click in with_details(queued) {
        let asked =
            AskedLink { link: click.link, has_choices: click.rule != 0 || click.variant != 0 };
        match links.last_mut().filter(|last| last.link == click.link) {
            Some(last) => last.has_choices |= asked.has_choices,
            None => links.push(asked),
        }
    }
    links
}

fn with_details(queued: &QueuedClicks) -> impl Iterator<Item = &Click> {
    queued.clicks.iter().filter(|click| click.flags.has(ClickFlags::DETAILS))
}

/// Keep only the number of the clicks on some links; they are sorted by link and time.
pub(super) fn count_only(
    queued: &QueuedClicks,
    details: &mut BatchDetails,
    why: &'static str,
    which: impl Fn(LinkId) -> bool,
) {
    count_clicks(with_details(queued).filter(|click| which(click.link)), details, why);
}

fn count_clicks<'a>(
    clicks: impl IntoIterator<Item = &'a Click>,
    details: &mut BatchDetails,
    why: &'static str,
) {
    let (mut counted, mut number) = (Vec::new(), 0);
    for click in clicks {
        number += 1;
        if let Some(totals) = click.totals() {
            push(&mut counted, totals);
        }
    }
    merge(&mut details.counted, counted);
    note_dropped(why, number);
}

pub(super) fn note_dropped(why: &'static str, clicks: u64) {
    if clicks > 0 {
        metrics::counter!("kurz_click_details_dropped_total", "why" => why).increment(clicks);
    }
}

/// The rows of the event log that a batch takes. The same batch gives the same rows.
pub(super) fn log_rows(details: &BatchDetails) -> Cow<'_, [EncodedEvents]> {
    if details.counted.is_empty() {
        return Cow::Borrowed(&details.rows);
    }
    let counted = details.counted.chunks(COUNTED_PER_ROW).map(encode_counted);
    Cow::Owned(details.rows.iter().cloned().chain(counted).collect())
}

/// Clicks without details: one event for each link, hour and class.
fn encode_counted(counted: &[ClickTotals]) -> EncodedEvents {
    let mut builder = BatchBuilder::default();
    for totals in counted {
        let others = u64::from(totals.others).min(totals.clicks);
        let mean = totals.nanos.checked_div(totals.clicks).unwrap_or_default();
        for (class, clicks) in [(Class::Person, totals.clicks - others), (Class::Bot, others)] {
            builder.add_counted(CountedClicks {
                link: totals.link,
                at: totals.hour.start(),
                class,
                clicks,
                nanos: u32::try_from(mean).unwrap_or(u32::MAX),
            });
        }
    }
    let events = u32::try_from(builder.len()).unwrap_or(u32::MAX);
    EncodedEvents { events, data: encode_row(&builder.finish()) }
}
