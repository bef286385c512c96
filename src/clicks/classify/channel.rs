//! The channel of a click: how the visitor came to the link. A table leads from hosts to channels; the
//! operator's own file is read after it and wins.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use compact_str::CompactString;
pub use kurz_core::clicks::Channel;

use super::campaign::Campaign;

/// Hosts and names with their channels.
const TABLE: &str = include_str!("../../../assets/channels.txt");

/// The most bytes of the operator's file.
const LARGEST_FILE: u64 = 1 << 20;

/// Second levels that registries use below a country: `co` in `google.co.uk`.
const SECOND_LEVELS: [&str; 9] = ["co", "com", "net", "org", "gov", "edu", "ac", "or", "ne"];

/// Why the operator's table of channels cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ChannelsError {
    #[error("the file of channels {path} cannot be read: check KURZ_CHANNELS and the file's permissions", path = .path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error(
        "the file of channels {path} is larger than {LARGEST_FILE} bytes: KURZ_CHANNELS must name a text file",
        path = .path.display()
    )]
    TooLarge { path: PathBuf },
    #[error(
        "line {line} of the file of channels begins with `{word}`, which is not a channel: write one of direct, \
         search, social, ai, messenger, email, video, paid, referral, qr, internal, then hosts"
    )]
    UnknownChannel { line: usize, word: String },
}

/// Channels by hosts, and by the names that campaigns give to their sources.
#[derive(Clone, Debug)]
pub struct ChannelTable(HashMap<CompactString, Channel>);

impl ChannelTable {
    /// The table that is part of the program.
    pub fn builtin() -> Self {
        let mut table = Self(HashMap::new());
        table.add(TABLE).expect("the table is part of the program and tested");
        table
    }

    /// That table, and what the file at `path` adds and changes.
    pub fn with_file(path: &Path) -> Result<Self, ChannelsError> {
        let unreadable = |source| ChannelsError::Unreadable { path: path.to_owned(), source };
        if std::fs::metadata(path).map_err(unreadable)?.len() > LARGEST_FILE {
            return Err(ChannelsError::TooLarge { path: path.to_owned() });
        }
        let bytes = std::fs::read(path).map_err(unreadable)?;
        let mut table = Self::builtin();
        table.add(&String::from_utf8_lossy(&bytes))?;
        Ok(table)
    }

    fn add(&mut self, text: &str) -> Result<(), ChannelsError> {
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.split('#').next().unwrap_or_default();
            let mut words = text.split_whitespace();
            let Some(word) = words.next() else { continue };
            let Some(channel) = Channel::ALL.into_iter().find(|channel| channel.name() == word)
            else {
                return Err(ChannelsError::UnknownChannel { line, word: word.to_owned() });
            };
            for host in words {
                let host = host.to_ascii_lowercase();
                let host = host.strip_prefix("www.").unwrap_or(&host);
                self.0.insert(host.into(), channel);
            }
        }
        Ok(())
    }

    /// The channel of a host, which is in lower case and without `www.`, or of a domain above it.
    pub fn of_host(&self, host: &str) -> Option<Channel> {
        if let Some(channel) = domains(host).find_map(|domain| self.0.get(domain)) {
            return Some(*channel);
        }
        domains(host).find_map(|domain| {
            let (name, rest) = domain.split_once('.')?;
            let is_registry = match rest.split_once('.') {
                None => true,
                Some((second, _)) => {
                    SECOND_LEVELS.contains(&second) && rest.matches('.').count() == 1
                }
            };
            let mut key = CompactString::from(name);
            key.push_str(".*");
            is_registry.then(|| self.0.get(&key).copied()).flatten()
        })
    }

    /// The channel of what a campaign calls its source: a name or a host.
    fn of_source(&self, source: &str) -> Option<Channel> {
        let source = source.to_ascii_lowercase();
        let source = source.strip_prefix("www.").unwrap_or(&source);
        if source.contains('.') { self.of_host(source) } else { self.0.get(source).copied() }
    }
}

/// `a.b.c`, `b.c`, `c`.
fn domains(host: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(host).filter(|host| !host.is_empty()), |host| {
        host.split_once('.').map(|(_, rest)| rest)
    })
}

/// What is known of the referrer of a click.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Referrer {
    None,
    Internal,
    /// With the channel of its host, if that is known.
    Host(Option<Channel>),
}

/// What a query says about the channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CampaignMarks {
    pub(super) is_qr: bool,
    /// By a click id or the medium.
    channel: Option<Channel>,
    has_source: bool,
    /// By the name of the source.
    by_source: Option<Channel>,
}

impl CampaignMarks {
    pub(super) fn of(campaign: &Campaign, table: &ChannelTable) -> Self {
        let source = Some(campaign.source()).filter(|source| !source.is_empty());
        Self {
            is_qr: campaign.is_qr,
            channel: campaign.channel,
            has_source: source.is_some(),
            by_source: source.and_then(|source| table.of_source(source)),
        }
    }
}

/// The channel of a click with this referrer and query.
pub(super) fn channel_of(referrer: Referrer, query: CampaignMarks) -> Channel {
    if query.is_qr {
        return Channel::Qr;
    }
    if let Some(channel) = query.channel {
        return channel;
    }
    let otherwise = |channel| query.by_source.unwrap_or(channel);
    match referrer {
        Referrer::Host(Some(channel)) => channel,
        Referrer::Host(None) => otherwise(Channel::Referral),
        Referrer::Internal => otherwise(Channel::Internal),
        Referrer::None if query.has_source => otherwise(Channel::Referral),
        Referrer::None => Channel::Direct,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_host_has_the_channel_of_its_domain() {
        let table = ChannelTable::builtin();
        let cases: &[(&str, Option<Channel>)] = &[
            ("google.com", Some(Channel::Search)),
            ("google.de", Some(Channel::Search)),
            ("google.co.uk", Some(Channel::Search)),
            ("images.google.com.br", Some(Channel::Search)),
            ("mail.google.com", Some(Channel::Email)),
            ("gemini.google.com", Some(Channel::Ai)),
            ("docs.google.com", Some(Channel::Referral)),
            ("google.evil.example", None),
            ("google.example.com", None),
            ("notgoogle.com", None),
            ("facebook.com.evil.example", None),
            ("l.facebook.com", Some(Channel::Social)),
            ("t.co", Some(Channel::Social)),
            ("at.co", None),
            ("com.google.android.gm", Some(Channel::Email)),
            ("chatgpt.com", Some(Channel::Ai)),
            ("old.reddit.com", Some(Channel::Social)),
            ("news.ycombinator.com", Some(Channel::Social)),
            ("web.telegram.org", Some(Channel::Messenger)),
            ("m.youtube.com", Some(Channel::Video)),
            ("blog.example", None),
            ("com", None),
            ("", None),
            (".", None),
            ("..", None),
        ];
        for (host, channel) in cases {
            assert_eq!(table.of_host(host), *channel, "{host}");
        }
        assert_eq!(table.of_source("Facebook"), Some(Channel::Social));
        assert_eq!(table.of_source("chatgpt.com"), Some(Channel::Ai));
        assert_eq!(table.of_source("flyer"), None);
        assert!(table.0.len() >= 300);
    }

    #[test]
    fn queries_win_over_referrers_and_referrers_over_sources() {
        let table = ChannelTable::builtin();
        let cases: &[(Referrer, &str, Channel)] = &[
            (Referrer::None, "", Channel::Direct),
            (Referrer::None, "qr", Channel::Qr),
            (Referrer::Host(Some(Channel::Social)), "qr&gclid=1", Channel::Qr),
            (Referrer::Host(Some(Channel::Search)), "gclid=1", Channel::Paid),
            (Referrer::Host(Some(Channel::Search)), "", Channel::Search),
            (Referrer::Host(Some(Channel::Search)), "utm_source=facebook", Channel::Search),
            (Referrer::Host(None), "", Channel::Referral),
            (Referrer::Host(None), "utm_source=newsletter", Channel::Email),
            (Referrer::Internal, "", Channel::Internal),
            (Referrer::None, "utm_source=chatgpt.com", Channel::Ai),
            (Referrer::None, "ref=producthunt", Channel::Social),
            (Referrer::None, "utm_source=flyer", Channel::Referral),
            (Referrer::None, "utm_source=x&utm_medium=email", Channel::Email),
        ];
        for (referrer, query, channel) in cases {
            let marks = CampaignMarks::of(&Campaign::read(query.as_bytes()), &table);
            assert_eq!(channel_of(*referrer, marks), *channel, "{query}");
        }
    }

    #[test]
    fn the_operators_file_wins_and_its_mistakes_are_named() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(
            file,
            "# ours\n\nsocial intra.example WWW.Club.example\nreferral t.co # not social"
        )
        .unwrap();
        let table = ChannelTable::with_file(file.path()).unwrap();
        assert_eq!(table.of_host("a.intra.example"), Some(Channel::Social));
        assert_eq!(table.of_host("club.example"), Some(Channel::Social));
        assert_eq!(table.of_host("t.co"), Some(Channel::Referral));
        assert_eq!(table.of_host("google.com"), Some(Channel::Search));

        writeln!(file, "sozial x.example").unwrap();
        let error = ChannelTable::with_file(file.path()).unwrap_err().to_string();
        assert!(error.contains("line 5") && error.contains("`sozial`"), "{error}");
        let error = ChannelTable::with_file(Path::new("/nowhere/channels")).unwrap_err();
        assert!(error.to_string().contains("KURZ_CHANNELS"), "{error}");
        file.as_file().set_len(2 << 20).unwrap();
        let error = ChannelTable::with_file(file.path()).unwrap_err();
        assert!(matches!(error, ChannelsError::TooLarge { .. }), "{error}");
    }
}
