//! A DNS server for TXT records, over TCP on a port of its own.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// The TXT records that it has; names without any do not exist.
#[derive(Clone, Debug, Default)]
pub struct Dns {
    records: Arc<Mutex<HashMap<String, Vec<String>>>>,
    address: Option<SocketAddr>,
}

impl Dns {
    /// Start it. It runs until the test process ends.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let dns = Self { address: listener.local_addr().ok(), ..Self::default() };
        let records = Arc::clone(&dns.records);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let records = Arc::clone(&records);
                // A client that hangs up is none of the test's business.
                thread::spawn(move || answer(stream, &records).ok());
            }
        });
        dns
    }

    /// `host:port`, for `KURZ_DNS_RESOLVER`.
    pub fn address(&self) -> String {
        self.address.unwrap().to_string()
    }

    /// Add a TXT record to a name.
    pub fn add(&self, name: &str, text: &str) {
        let mut records = self.records.lock().unwrap();
        records.entry(name.to_owned()).or_default().push(text.to_owned());
    }
}

fn answer(
    mut stream: TcpStream,
    records: &Mutex<HashMap<String, Vec<String>>>,
) -> std::io::Result<()> {
    let mut length = [0; 2];
    stream.read_exact(&mut length)?;
    let mut message = vec![0; usize::from(u16::from_be_bytes(length))];
    stream.read_exact(&mut message)?;
    let mut labels = Vec::new();
    let mut at = 12;
    while message[at] > 0 {
        let end = at + 1 + usize::from(message[at]);
        labels.push(String::from_utf8_lossy(&message[at + 1..end]).into_owned());
        at = end;
    }
    let texts = records.lock().unwrap().get(&labels.join(".")).cloned();
    let (code, texts) = texts.map_or((3, Vec::new()), |texts| (0, texts));
    message[2..4].copy_from_slice(&[0x81, 0x80 | code]);
    message[6..8].copy_from_slice(&u16::try_from(texts.len()).unwrap().to_be_bytes());
    for text in texts {
        // The name of the question, TXT, IN, a minute, and one string.
        let length = u8::try_from(text.len()).unwrap();
        message.extend([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, 0, length + 1, length]);
        message.extend(text.as_bytes());
    }
    stream.write_all(&u16::try_from(message.len()).unwrap().to_be_bytes())?;
    stream.write_all(&message)
}
