//! A link on its way into the store: what was asked for, checked, and the code that it tries next.

use sha2::{Digest, Sha256};

use crate::app::links::create::LinkRequest;
use crate::app::{App, AppError, FieldError, MAIN};
use crate::store::{CODES_AT_ONCE, InsertedLink, MonthlyLinkLimit, NewLink, Workspace};
use kurz_core::account::{Refused, UserId, claim};
use kurz_core::code::offensive::is_offensive;
use kurz_core::code::{Canonical, Code, WorkspaceId, custom, deterministic, random};
use kurz_core::link::{Link, LinkFields, LinkId, LinkOrigin, Month, Status, StoredPlan, Strategy};
use kurz_core::time::Timestamp;

/// Codes in a row that spell something unwanted. Fewer than one in 200 does.
const MOST_UNWANTED: usize = 100;

/// Blocks of numbers that one request looks through for a free code: 900,000 numbers in all.
const MOST_BLOCKS: usize = 10_000;

/// Who makes links, and where.
#[derive(Debug)]
pub(crate) struct Maker<'a> {
    pub(crate) workspace: &'a Workspace,
    /// Whether the workspace is stored, or comes into being with its first link.
    pub(crate) exists: bool,
    pub(crate) owner: Option<UserId>,
    /// Whether they are made without an account on a server that has them.
    pub(crate) is_nobody: bool,
    /// Whether all links of the workspace are everybody's who may make one there.
    pub(crate) is_shared: bool,
    /// With what and from where.
    pub(crate) made: LinkOrigin,
    /// The account whose custom codes are counted in `main`: not of those who administer the server.
    pub(crate) counted: Option<UserId>,
}

impl Maker<'_> {
    /// How the code of a link that may be made is made.
    fn strategy(&self, request: &LinkRequest) -> Strategy {
        match request.custom_code {
            Some(_) => Strategy::Custom,
            None if self.is_nobody => Strategy::Random,
            None => request.strategy.unwrap_or(self.workspace.strategy),
        }
    }

    /// What opens a link to a claim, if it is made by nobody.
    fn claim_token(&self, app: &App) -> Option<String> {
        self.is_nobody.then(|| claim::fresh(&mut |bytes| app.parts.entropy.fill(bytes)))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Draft {
    canonical: Canonical,
    /// Which of its codes it tries.
    attempt: u32,
    /// The dead link that it brings back.
    dead: Option<Link>,
    /// Whether all links of the workspace are everybody's who may make one there.
    is_shared: bool,
    /// What a custom code counts against.
    pub(crate) custom_code_limit: Option<MonthlyLinkLimit>,
    /// What opens the link to a claim, if it is nobody's.
    pub(crate) claim_token: Option<String>,
    /// The length of a random code.
    length: u8,
    pub(crate) link: NewLink,
}

impl Draft {
    /// Check a request; nothing is stored if anything in it is wrong. Unless it is custom, its
    /// code comes from [`Draft::next_code`].
    pub(crate) fn check(
        app: &App,
        maker: &Maker<'_>,
        request: &LinkRequest,
        now: Timestamp,
    ) -> Result<Self, AppError> {
        let workspace = maker.workspace;
        if maker.is_nobody && !is_for_nobody(request) {
            return Err(Refused::Unauthenticated.into());
        }
        let mut errors = Vec::new();
        let mut note = |error| errors.push(error);
        let policy = &app.parts.policy;

        let canonical = app.check_target(&request.original_url).map_err(&mut note);
        let custom = request
            .custom_code
            .as_deref()
            .map(|code| custom::parse(code, &app.parts.reserved))
            .transpose()
            .map_err(|error| note(FieldError::new("custom_code", error.code(), error)));
        let mut fields = LinkFields::default();
        fields.apply(&request.fields, now).into_iter().map(FieldError::from).for_each(&mut note);
        let end = check_anonymous_end(fields.expires_at, maker, now.plus(policy.anon_ttl));
        let end = end.map_err(&mut note);
        let plan = app.replan(None, &request.plan, &fields);
        let plan = plan.map_err(|errors| errors.into_iter().for_each(&mut note));
        let length = random_length(maker, request, app.parts.code_length).map_err(&mut note);
        if request.strategy == Some(Strategy::Custom) && request.custom_code.is_none() {
            let detail = "the strategy custom needs a custom_code";
            note(FieldError::new("custom_code", "code-missing", detail));
        }
        let (Ok(canonical), Ok(custom), Ok(end), Ok(plan), Ok(length), true) =
            (canonical, custom, end, plan, length, errors.is_empty())
        else {
            return Err(AppError::Invalid(errors));
        };

        let strategy = maker.strategy(request);
        let claim_token = maker.claim_token(app);
        let life = policy.counter_ttl.filter(|_| strategy == Strategy::Counter);
        fields.expires_at = end.or_else(|| life.map(|life| now.plus(life)));
        let link = NewLink {
            id: LinkId(0),
            workspace: workspace.id.clone(),
            code: custom.unwrap_or_else(no_code_yet),
            strategy,
            target: kept_target(&request.original_url),
            canonical_hash: canonical.sha256(),
            fields,
            created_at: now,
            wants_main: app.parts.hosts.of_workspace(&workspace.id).is_empty(),
            owner: maker.owner,
            claim_hash: claim_token.as_deref().and_then(claim::hash),
            made: maker.made.clone(),
            revive: false,
            plan,
        };
        Ok(Self {
            canonical,
            attempt: 0,
            dead: None,
            is_shared: maker.is_shared,
            custom_code_limit: app
                .custom_code_limit(&workspace.id, maker.counted, now)
                .filter(|_| strategy == Strategy::Custom),
            length,
            claim_token,
            link,
        })
    }

    /// Choose the first code, or after a clash the next one.
    pub(crate) async fn next_code(&mut self, app: &App, clashed: bool) -> Result<(), AppError> {
        match self.link.strategy {
            Strategy::Custom if clashed => Err(AppError::CodeTaken),
            Strategy::Custom => Ok(()),
            Strategy::Deterministic => self.next_deterministic(app),
            Strategy::Random => self.next_random(app),
            Strategy::Counter if clashed => self.skip_taken_counters(app).await,
            Strategy::Counter => self.next_counter(app).await,
        }
    }

    fn next_deterministic(&mut self, app: &App) -> Result<(), AppError> {
        while self.attempt < deterministic::ATTEMPTS {
            self.link.code =
                deterministic::code(&self.canonical, &self.link.workspace, self.attempt);
            self.attempt += 1;
            // It may spell the name of a page by chance.
            if !app.parts.reserved.contains(self.link.code.as_str()) {
                return Ok(());
            }
        }
        Err(AppError::NoFreeCode(self.attempt))
    }

    /// An attempt is a code that was tried: those that nobody would want to have are not.
    fn next_random(&mut self, app: &App) -> Result<(), AppError> {
        if self.attempt < random::ATTEMPTS {
            self.attempt += 1;
            for _ in 0..MOST_UNWANTED {
                let code = random::code(self.length, &mut |bytes| app.parts.entropy.fill(bytes));
                if is_wanted(app, &code) {
                    self.link.code = code;
                    return Ok(());
                }
            }
        }
        Err(AppError::NoFreeCode(self.attempt))
    }

    /// The code of the next number, which is nearly always free.
    async fn next_counter(&mut self, app: &App) -> Result<(), AppError> {
        self.attempt += 1;
        for _ in 0..MOST_UNWANTED {
            let code = counter_codes(app, 1).await?.pop();
            if let Some(code) = code {
                self.link.code = code;
                return Ok(());
            }
        }
        Err(AppError::NoFreeCode(self.attempt))
    }

    /// The code of the next number that is free, however many are taken: somebody may have chosen those
    /// that were to come. The numbers in between are used up, so that nobody looks at them again.
    async fn skip_taken_counters(&mut self, app: &App) -> Result<(), AppError> {
        for _ in 0..MOST_BLOCKS {
            self.attempt += 1;
            let codes = counter_codes(app, CODES_AT_ONCE).await?;
            let taken = app.parts.store.taken_codes(&self.link.workspace, &codes).await?;
            if let Some(free) = codes.into_iter().find(|code| !taken.contains(code.as_str())) {
                self.link.code = free;
                return Ok(());
            }
        }
        Err(AppError::NoFreeCode(self.attempt))
    }

    /// The code that the draft's link has, if it has one already: where that follows from what is
    /// asked for. A deterministic link may have a later one; then the store knows.
    pub(crate) fn foreseen_code(&mut self, app: &App) -> Option<&Code> {
        match self.link.strategy {
            Strategy::Custom => Some(&self.link.code),
            Strategy::Deterministic => {
                self.link.code = deterministic::code(&self.canonical, &self.link.workspace, 0);
                let code = &self.link.code;
                (!app.parts.reserved.contains(code.as_str())).then_some(code)
            }
            Strategy::Random | Strategy::Counter => None,
        }
    }

    /// Whether `link`, which has the draft's code and is alive, is what the draft asks for.
    pub(crate) fn is_repeat_of(&self, link: &Link) -> bool {
        // A chosen code may be a deterministic link's, and the other way round: what the URL's own
        // deterministic link is then, the store knows.
        let own = self.link.strategy == Strategy::Custom || link.strategy == self.link.strategy;
        own && self.would_be(&link.canonical_hash, &link.target)
    }

    /// What tells the URL of this draft from others: its canonical form and its fragment.
    pub(crate) fn url_hash(&self) -> [u8; 32] {
        match fragment(&self.link.target) {
            None => self.link.canonical_hash,
            Some(fragment) => Sha256::digest(format!("{}#{fragment}", self.canonical)).into(),
        }
    }

    /// What is known about a clash: which code, on which attempt.
    pub(crate) fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Whether the link of this URL, under the code this draft asks for, is what the draft would
    /// become. A chosen code leads to one fragment; a deterministic one does not know of any; the
    /// others are new each time.
    pub(crate) fn would_be(&self, canonical_hash: &[u8; 32], target: &str) -> bool {
        self.link.canonical_hash == *canonical_hash
            && match self.link.strategy {
                Strategy::Deterministic => true,
                Strategy::Custom => fragment(&self.link.target) == fragment(target),
                Strategy::Random | Strategy::Counter => false,
            }
    }

    /// A link that is alive is not the answer to a request for one with another plan.
    pub(crate) fn check_same_plan(&self, link: &Link, now: Timestamp) -> Result<(), AppError> {
        let document = |plan: &Option<StoredPlan>| plan.as_ref().map(|plan| plan.document.clone());
        let asks = self.link.plan.is_some() && link.status(now) == Some(Status::Active);
        if asks && document(&self.link.plan) != document(&link.plan) {
            return Err(AppError::LinkExists);
        }
        Ok(())
    }

    /// Whether `link` may be given to the maker of this draft, or brought back for them. In a
    /// workspace where everybody has their own links, nobody gets or revives another's; a
    /// tombstone is nobody's.
    pub(crate) fn may_have(&self, link: &Link) -> bool {
        let own = link.owner.is_some() && link.owner == self.link.owner;
        self.is_shared || own || link.purged_at.is_some()
    }

    /// The link, once it is stored. One that came back goes on with its counts.
    pub(crate) fn stored(&self, placed: InsertedLink) -> Link {
        let new = &self.link;
        let dead = self.dead.as_ref();
        Link {
            id: placed.id,
            workspace: new.workspace.clone(),
            code: new.code.clone(),
            strategy: new.strategy,
            target: new.target.clone(),
            canonical_hash: new.canonical_hash,
            fields: new.fields.clone(),
            created_at: new.created_at,
            updated_at: new.created_at,
            expired_at: None,
            deleted_at: None,
            purged_at: None,
            main_since: placed.main_since,
            version: dead.map_or(1, |dead| dead.version + 1),
            redirect_count: dead.map_or(0, |dead| dead.redirect_count),
            avg_redirect_ms: dead.map_or(0.0, |dead| dead.avg_redirect_ms),
            last_redirect_at: dead.and_then(|dead| dead.last_redirect_at),
            month: dead.map_or(Month::of(new.created_at), |dead| dead.month),
            month_hits: dead.map_or(0, |dead| dead.month_hits),
            owner: new.owner,
            is_temporary: new.claim_hash.is_some(),
            destination_status: None,
            destination_http_status: None,
            last_checked_at: None,
            disabled: None,
            made: new.made.clone(),
            plan: new.plan.clone(),
            // Those of a purged link are dropped.
            aliases: dead
                .filter(|dead| dead.purged_at.is_none())
                .map_or_else(Vec::new, |dead| dead.aliases.clone()),
        }
    }

    /// Become the dead link of the same URL again, at `now`: it may have died only just.
    pub(crate) fn revive(&mut self, dead: Link, now: Timestamp) {
        self.link.id = dead.id;
        self.link.code = dead.code.clone();
        self.link.created_at = now;
        self.link.revive = true;
        self.dead = Some(dead);
    }

    /// The code, as a key to compare with.
    pub(crate) fn code(&self) -> &Code {
        &self.link.code
    }
}

impl App {
    /// How many custom codes an account may choose in a workspace this month, where they are counted.
    pub(super) fn custom_code_limit(
        &self,
        workspace: &WorkspaceId,
        counted: Option<UserId>,
        now: Timestamp,
    ) -> Option<MonthlyLinkLimit> {
        let is_main = workspace.as_str() == MAIN;
        let limit = self.parts.policy.custom_code_limit.filter(|_| is_main);
        let month = Month::of(now);
        limit.zip(counted).map(|(limit, user)| MonthlyLinkLimit { user, month, limit })
    }
}

/// The length of a random code: what was asked for, else the server's.
fn random_length(maker: &Maker<'_>, request: &LinkRequest, default: u8) -> Result<u8, FieldError> {
    let Some(length) = request.length else { return Ok(default) };
    if maker.strategy(request) != Strategy::Random {
        let detail = "a length is for random codes: ask for the strategy random";
        return Err(FieldError::new("length", "length-without-random", detail));
    }
    if !random::LENGTHS.contains(&length) {
        let (least, most) = (random::LENGTHS.start(), random::LENGTHS.end());
        let detail = format!("the length of a random code is {least} to {most}");
        return Err(FieldError::new("length", "length-invalid", detail));
    }
    Ok(length)
}

/// The codes of the next `count` numbers, but for those that nobody would want to have.
async fn counter_codes(app: &App, count: usize) -> Result<Vec<Code>, AppError> {
    let numbers = app.code_counter.take(&app.parts.store, count).await?;
    let codes = numbers
        .into_iter()
        .map(|number| app.parts.scrambler.code(u128::try_from(number).unwrap_or_default()));
    Ok(codes.filter(|code| is_wanted(app, code)).collect())
}

/// A generated code may spell the name of a page by chance, or something worse.
fn is_wanted(app: &App, code: &Code) -> bool {
    !app.parts.reserved.contains(code.as_str()) && !is_offensive(code.as_str())
}

/// Whether somebody without an account may ask for this: codes are for those who can be found.
fn is_for_nobody(request: &LinkRequest) -> bool {
    request.custom_code.is_none()
        && request.plan.is_empty()
        && matches!(request.strategy, None | Some(Strategy::Random))
}

/// A link made without an account ends when those do, or sooner.
fn check_anonymous_end(
    asked: Option<Timestamp>,
    maker: &Maker<'_>,
    end: Timestamp,
) -> Result<Option<Timestamp>, FieldError> {
    if !maker.is_nobody {
        return Ok(asked);
    }
    if asked.is_some_and(|asked| asked > end) {
        let detail = format!("without an account a link lives until {end} at most");
        return Err(FieldError::new("expires_at", "expires-at-too-late", detail));
    }
    Ok(asked.or(Some(end)))
}

/// The target as it was sent. Only NUL, which PostgreSQL cannot hold and which can stand nowhere
/// but around the URL, is taken off, with the space beside it.
pub(crate) fn kept_target(url: &str) -> String {
    let kept = if url.contains('\0') { url.trim_matches(|c: char| c <= ' ') } else { url };
    kept.to_owned()
}

/// Stands where the first code will.
fn no_code_yet() -> Code {
    Code::parse("-").expect("a dash is a code")
}

fn fragment(url: &str) -> Option<&str> {
    url.trim_matches(|c: char| c <= ' ').split_once('#').map(|(_, fragment)| fragment)
}
