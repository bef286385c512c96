//! The messages between instances: JSON with a version, so that two releases can run side by side.

use serde::{Deserialize, Serialize};

/// The version of these messages. One of another version counts as unreadable.
const VERSION: u32 = 1;

/// A message of one instance to the others. The names in JSON are those of version 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// The links at these address keys changed.
    #[serde(rename = "forget")]
    Invalidate(Vec<String>),
    /// Any link may have changed.
    #[serde(rename = "everything")]
    InvalidateAll,
    Hosts,
    /// A workspace, or who is a member of it, changed.
    Workspace(String),
    /// Hits of this link are wanted: give back those that are reserved and not used.
    Recall(i64),
    #[serde(rename = "tick")]
    Heartbeat,
    /// The sender has no subscription to Redis: notify it through the store.
    #[serde(rename = "deaf")]
    Unsubscribed,
}

#[derive(Serialize)]
struct Sent<'a> {
    v: u32,
    from: &'a str,
    say: &'a Message,
}

/// The fields that every version has.
#[derive(Deserialize)]
struct Received {
    v: u32,
    from: String,
    say: serde_json::Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Arrived {
    /// The sender; empty when the message could not be read.
    pub(super) from: String,
    pub(super) message: Message,
}

impl Message {
    pub(super) fn write(&self, from: &str) -> String {
        serde_json::to_string(&Sent { v: VERSION, from, say: self })
            .expect("texts and numbers can be written as JSON")
    }

    /// Decode. An unreadable message may mean anything: then everything is invalidated.
    pub(super) fn read(text: &str) -> Arrived {
        let everything = |from: String| Arrived { from, message: Self::InvalidateAll };
        let Ok(received) = serde_json::from_str::<Received>(text) else {
            return everything(String::new());
        };
        if received.v != VERSION {
            return everything(received.from);
        }
        match serde_json::from_value(received.say) {
            Ok(message) => Arrived { from: received.from, message },
            Err(_) => everything(received.from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_comes_back_as_it_went() {
        let all = [
            Message::Invalidate(vec!["promo".to_owned(), "acme/promo".to_owned()]),
            Message::InvalidateAll,
            Message::Hosts,
            Message::Workspace("acme".to_owned()),
            Message::Recall(42),
            Message::Heartbeat,
            Message::Unsubscribed,
        ];
        for message in all {
            let arrived = Message::read(&message.write("me"));
            assert_eq!(arrived, Arrived { from: "me".to_owned(), message });
        }
        let text = Message::Invalidate(vec!["a".to_owned()]).write("me");
        assert_eq!(text, r#"{"v":1,"from":"me","say":{"forget":["a"]}}"#);
    }

    // threats: E15
    #[test]
    fn what_a_later_version_says_means_that_anything_may_have_changed() {
        for text in [
            r#"{"v":2,"from":"you","say":{"forget":["a"]}}"#,
            r#"{"v":1,"from":"you","say":{"rename":["a","b"]}}"#,
            r#"{"v":2,"from":"you","say":7,"more":true}"#,
        ] {
            let arrived = Message::read(text);
            assert_eq!((arrived.from.as_str(), arrived.message), ("you", Message::InvalidateAll));
        }
        for text in ["", "forget a", r#"{"v":"x"}"#] {
            assert_eq!(Message::read(text).message, Message::InvalidateAll);
        }
    }
}
