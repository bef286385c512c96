//! TXT records, asked for over TCP at one resolver. The system's resolver has no call for them.
//!
//! TCP alone, although DNS begins with UDP: a forged answer to a UDP question is a guess of 32 bits, and
//! whoever may ask for a check could ask until a guess is right. Resolvers have to support TCP (RFC 7766).
//!
//! Invariant: one question, at most 64 KiB of answer, and no answer makes this panic or loop.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

const MAX_TIME: Duration = Duration::from_secs(5);

/// Where the resolvers of the machine are named.
const RESOLV_CONF: &str = "/etc/resolv.conf";
const PORT: u16 = 53;

/// The connection is new and has one question: the id tells no two apart.
const ID: u16 = 0x6b7a;
const HEADER_BYTES: usize = 12;
const TXT: u16 = 16;
const INTERNET: u16 = 1;

/// The result of asking for the TXT records of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TxtLookup {
    /// The records, each with its strings joined; none when the name has none.
    Found(Vec<String>),
    /// The resolver failed, or could not be reached.
    Unavailable,
}

/// Ask `resolver`, or the first one of the machine, for the TXT records of `name`.
pub(super) async fn look_up_txt(resolver: Option<SocketAddr>, name: &str) -> TxtLookup {
    let asked = async {
        let resolver = match resolver {
            Some(resolver) => resolver,
            None => system_resolver().await?,
        };
        let question = question(name)?;
        let answer = ask(resolver, &question).await.ok()?;
        read_answer(&answer)
    };
    match timeout(MAX_TIME, asked).await {
        Ok(Some(records)) => TxtLookup::Found(records),
        Ok(None) | Err(_) => TxtLookup::Unavailable,
    }
}

async fn system_resolver() -> Option<SocketAddr> {
    let read = || std::fs::read_to_string(RESOLV_CONF);
    let text = tokio::task::spawn_blocking(read).await.ok()?.ok()?;
    first_resolver(&text)
}

/// The first address that a `resolv.conf` names.
fn first_resolver(text: &str) -> Option<SocketAddr> {
    text.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let address = words.next().filter(|word| *word == "nameserver").and(words.next())?;
        Some(SocketAddr::new(address.parse::<IpAddr>().ok()?, PORT))
    })
}

async fn ask(resolver: SocketAddr, question: &[u8]) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(resolver).await?;
    let length = u16::try_from(question.len()).map_err(io::Error::other)?;
    let mut message = length.to_be_bytes().to_vec();
    message.extend_from_slice(question);
    stream.write_all(&message).await?;
    let length = stream.read_u16().await?;
    let mut answer = vec![0; usize::from(length)];
    stream.read_exact(&mut answer).await?;
    Ok(answer)
}

/// A question for the TXT records of `name`; `None` when that is no name.
fn question(name: &str) -> Option<Vec<u8>> {
    let mut message = Vec::with_capacity(HEADER_BYTES + name.len() + 6);
    // Recursion desired; one question, and nothing else.
    for number in [ID, 0x0100, 1, 0, 0, 0] {
        message.extend(number.to_be_bytes());
    }
    for label in name.split('.') {
        let length = u8::try_from(label.len()).ok().filter(|length| (1..=63).contains(length))?;
        message.push(length);
        message.extend(label.as_bytes());
    }
    // Names have 255 bytes at most, lengths and the end included.
    if message.len() - HEADER_BYTES > 254 {
        return None;
    }
    message.push(0);
    message.extend(TXT.to_be_bytes());
    message.extend(INTERNET.to_be_bytes());
    Some(message)
}

/// The TXT records of an answer; `None` when it is none, or says that the resolver failed. Records of
/// any name count: where the name is an alias, they are those of what it stands for.
fn read_answer(message: &[u8]) -> Option<Vec<String>> {
    let mut reader = Reader { message, at: 0 };
    let (id, flags) = (reader.number()?, reader.number()?);
    let (questions, answers) = (reader.number()?, reader.number()?);
    let (is_answer, code) = (flags & 0x8000 != 0, flags & 0x000f);
    if id != ID || !is_answer {
        return None;
    }
    match code {
        0 => {}
        // There is no such name.
        3 => return Some(Vec::new()),
        _ => return None,
    }
    reader.skip(4)?;
    for _ in 0..questions {
        reader.skip_name()?;
        reader.skip(4)?;
    }
    let mut records = Vec::new();
    for _ in 0..answers {
        reader.skip_name()?;
        let (kind, class) = (reader.number()?, reader.number()?);
        reader.skip(4)?;
        let length = usize::from(reader.number()?);
        let data = reader.take(length)?;
        if (kind, class) == (TXT, INTERNET) {
            records.push(join_strings(data)?);
        }
    }
    Some(records)
}

/// The strings of a TXT record, one after the other.
fn join_strings(mut data: &[u8]) -> Option<String> {
    let mut text = Vec::with_capacity(data.len());
    while let Some((length, rest)) = data.split_first() {
        let (string, rest) = rest.split_at_checked(usize::from(*length))?;
        text.extend_from_slice(string);
        data = rest;
    }
    Some(String::from_utf8_lossy(&text).into_owned())
}

struct Reader<'a> {
    message: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(length)?;
        let taken = self.message.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn skip(&mut self, length: usize) -> Option<()> {
        self.take(length).map(|_| ())
    }

    fn number(&mut self) -> Option<u16> {
        self.take(2)?.first_chunk().copied().map(u16::from_be_bytes)
    }

    /// A name ends with an empty label, or with a pointer to another name, which is not followed.
    fn skip_name(&mut self) -> Option<()> {
        loop {
            let length = *self.take(1)?.first()?;
            match length {
                0 => return Some(()),
                1..=63 => self.skip(usize::from(length))?,
                192..=255 => return self.skip(1),
                64..=191 => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio::net::TcpListener;

    use super::*;

    /// An answer to `question` with these resource records, each a type and its data.
    fn answer(question: &[u8], code: u16, records: &[(u16, &[u8])]) -> Vec<u8> {
        let mut message = question.to_vec();
        message[2..4].copy_from_slice(&(0x8180 | code).to_be_bytes());
        message[6..8].copy_from_slice(&u16::try_from(records.len()).unwrap().to_be_bytes());
        for (kind, data) in records {
            message.extend([0xc0, 0x0c]);
            message.extend(kind.to_be_bytes());
            message.extend([0, 1, 0, 0, 0, 60]);
            message.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
            message.extend(*data);
        }
        message
    }

    #[test]
    fn a_question_is_a_header_a_name_and_a_type() {
        let bytes = question("_kurz.go.example").unwrap();
        assert_eq!(bytes[..12], [0x6b, 0x7a, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(&bytes[12..], b"\x05_kurz\x02go\x07example\x00\x00\x10\x00\x01");
        for bad in ["", "a..b", ".", &"a".repeat(64), &"abc.".repeat(80)] {
            assert_eq!(question(bad), None, "{bad}");
        }
    }

    #[test]
    fn text_records_are_read_beside_others_and_their_strings_joined() {
        let asked = question("_kurz.go.example").unwrap();
        let read = |code, records| read_answer(&answer(&asked, code, records));
        assert_eq!(read(0, &[]), Some(vec![]));
        assert_eq!(read(3, &[]), Some(vec![]));
        assert_eq!(read(2, &[]), None, "a resolver that fails says nothing about the name");
        let alias: (u16, &[u8]) = (5, b"\x05other\x00");
        let records = [alias, (16, b"\x02ab\x01c".as_slice()), (16, b"".as_slice())];
        assert_eq!(read(0, &records), Some(vec!["abc".to_owned(), String::new()]));
        assert_eq!(read(0, &[(16, b"\x05ab".as_slice())]), None, "a string longer than its record");
        let mut other = answer(&asked, 0, &[]);
        other[0] = 0;
        assert_eq!(read_answer(&other), None, "an answer to another question");
        assert_eq!(read_answer(&asked), None, "a question is no answer");
    }

    #[test]
    fn the_first_resolver_of_the_machine_is_asked() {
        let text = "# nameserver 9.9.9.9\nsearch example\nnameserver fe80::1%eth0\n  nameserver 127.0.0.53\n";
        assert_eq!(first_resolver(text), Some("127.0.0.53:53".parse().unwrap()));
        assert_eq!(first_resolver("nameserver\n"), None);
    }

    #[tokio::test]
    async fn a_resolver_that_is_not_there_or_closes_is_unavailable() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let closing = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(&[0, 200, 1]).await.unwrap();
        };
        let (found, ()) = tokio::join!(look_up_txt(Some(address), "a.example"), closing);
        assert_eq!(found, TxtLookup::Unavailable);
        drop(listener);
        assert_eq!(look_up_txt(Some(address), "a.example").await, TxtLookup::Unavailable);
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic(mut bytes: Vec<u8>) {
            read_answer(&bytes);
            if let Some(start) = bytes.get_mut(..4) {
                start.copy_from_slice(&[0x6b, 0x7a, 0x81, 0x80]);
            }
            read_answer(&bytes);
        }
    }
}
