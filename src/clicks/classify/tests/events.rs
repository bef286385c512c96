//! Whole clicks, as events.

use kurz_core::analytics::{EventBatch, PRIVATE, TextColumn, UNKNOWN};
use kurz_core::clicks::{Click, ClickAnswer, ClickFlags, HashedText, QueuedClicks};
use kurz_core::link::LinkId;
use kurz_core::time::Timestamp;

use super::{SEED, TestRequest, classifier, classify, known};

const FIREFOX: &[u8] = b"Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0";

/// Referrer, query and host; channel and trigger.
type ChannelCase = (&'static [u8], &'static [u8], &'static [u8], &'static str, &'static str);

fn request() -> TestRequest<'static> {
    TestRequest {
        agent: FIREFOX,
        referrer: b"t.co",
        query: b"utm_source=news&utm_campaign=Fr%C3%BChling&ref=x",
        host: b"kurz.example",
        language: b"de-AT,de;q=0.9",
        address: "193.0.6.139",
        country: b"",
        flags: ClickFlags::NONE,
    }
}

#[test]
fn a_click_becomes_an_event_with_everything_that_it_says() {
    let batch = classify(&mut classifier(), &[request()]);
    let expected = [
        (TextColumn::Host, "kurz.example"),
        (TextColumn::Class, "person"),
        (TextColumn::Referrer, "t.co"),
        (TextColumn::Channel, "social"),
        (TextColumn::Browser, "Firefox"),
        (TextColumn::BrowserVersion, "127"),
        (TextColumn::Os, "Linux"),
        (TextColumn::Device, "desktop"),
        (TextColumn::Language, "de-AT"),
        (TextColumn::Country, "NL"),
        (TextColumn::UtmSource, "news"),
        (TextColumn::UtmCampaign, "Frühling"),
        (TextColumn::Ref, "x"),
        (TextColumn::Trigger, "direct"),
        (TextColumn::Answer, "30x"),
    ];
    assert_eq!(known(&batch, 0), expected);
    assert_eq!((batch.links[0], batch.times[0]), (LinkId(7), Timestamp::from_ms(1_000)));
    assert_eq!((batch.nanos[0], batch.counts[0]), (5, 1));
    assert!(batch.visitors[0] != 0 && batch.visitors[0] < 1 << 40);
}

#[test]
fn nothing_that_is_not_sent_is_made_up() {
    let batch = classify(&mut classifier(), &[TestRequest::default()]);
    let expected = [
        (TextColumn::Class, "person"),
        (TextColumn::Channel, "direct"),
        (TextColumn::Trigger, "direct"),
        (TextColumn::Answer, "30x"),
    ];
    assert_eq!(known(&batch, 0), expected);
}

#[test]
fn who_asked_not_to_be_tracked_is_private_in_every_column_that_is_about_people() {
    let kept = [TextColumn::Host, TextColumn::Class, TextColumn::Answer];
    for (flags, class) in [
        (ClickFlags::PRIVATE, "person"),
        (ClickFlags::PRIVATE.with(ClickFlags::OTHER), "bot"),
        (ClickFlags::EXCLUDED, "excluded"),
        (ClickFlags::PRIVATE.with(ClickFlags::PREFETCH).with(ClickFlags::OTHER), "prefetch"),
    ] {
        // Even if a worker had read it.
        let request = TestRequest { flags, ..request() };
        let batch = classify(&mut classifier(), &[request]);
        for column in TextColumn::ALL {
            let text = batch.text(column, 0);
            assert_eq!(text == PRIVATE, !kept.contains(&column), "{column:?}: {text:?}");
        }
        assert_eq!(batch.text(TextColumn::Class, 0), class);
        assert_eq!(batch.text(TextColumn::Host, 0), "kurz.example");
        assert_eq!(batch.visitors[0], 0);
        for values in &batch.texts {
            for text in &values.dictionary {
                let is_about_people = ["Firefox", "t.co", "de-AT", "NL", "news"].contains(&&**text);
                assert!(!is_about_people, "{text}");
            }
        }
    }
}

#[test]
fn classes_follow_the_worker_and_bots_get_their_names() {
    let other = ClickFlags::OTHER;
    let cases: [(&[u8], ClickFlags, &str, &str); 7] = [
        (FIREFOX, ClickFlags::NONE, "person", ""),
        (b"Googlebot/2.1", other, "bot", "Googlebot"),
        (b"facebookexternalhit/1.1", other, "preview", "facebookexternalhit"),
        (FIREFOX, other, "bot", ""),
        (FIREFOX, other.with(ClickFlags::PREFETCH), "prefetch", ""),
        (b"Googlebot/2.1", other.with(ClickFlags::PREFETCH), "prefetch", "Googlebot"),
        (b"", other, "bot", ""),
    ];
    let requests = cases.map(|(agent, flags, ..)| TestRequest { agent, flags, ..request() });
    let batch = classify(&mut classifier(), &requests);
    for (event, (agent, _, class, bot)) in cases.into_iter().enumerate() {
        let agent = String::from_utf8_lossy(agent);
        assert_eq!(batch.text(TextColumn::Class, event), class, "{agent}");
        assert_eq!(batch.text(TextColumn::Bot, event), bot, "{agent}");
    }
}

#[test]
fn referrers_queries_and_own_hosts_give_the_channel() {
    let cases: [ChannelCase; 11] = [
        (b"", b"", b"kurz.example", "direct", "direct"),
        (b"google.de", b"", b"kurz.example", "search", "direct"),
        (b"google.de", b"gclid=1", b"kurz.example", "paid", "direct"),
        (b"chatgpt.com", b"", b"kurz.example", "ai", "direct"),
        (b"com.google.android.gm", b"", b"kurz.example", "email", "direct"),
        (b"blog.example", b"", b"kurz.example", "referral", "direct"),
        (b"kurz.example", b"", b"kurz.example", "internal", "direct"),
        (b"kurz.example", b"", b"own.example", "internal", "direct"),
        (b"own.example", b"", b"www.own.example", "internal", "direct"),
        (b"", b"qr", b"kurz.example", "qr", "qr"),
        (b"t.co", b"qr=1&utm_medium=email", b"kurz.example", "qr", "qr"),
    ];
    let requests =
        cases.map(|(referrer, query, host, ..)| TestRequest { referrer, query, host, ..request() });
    let batch = classify(&mut classifier(), &requests);
    for (event, (referrer, query, _, channel, trigger)) in cases.into_iter().enumerate() {
        let case =
            format!("{} {}", String::from_utf8_lossy(referrer), String::from_utf8_lossy(query));
        assert_eq!(batch.text(TextColumn::Channel, event), channel, "{case}");
        assert_eq!(batch.text(TextColumn::Trigger, event), trigger, "{case}");
        assert_eq!(batch.text(TextColumn::Referrer, event).as_bytes(), referrer);
    }
}

#[test]
fn a_visitor_of_two_workspaces_has_two_numbers() {
    let mut queued = QueuedClicks::default();
    for link in [1, 2, 1, 3] {
        let mut one = QueuedClicks::default();
        request().queue(&mut one);
        queued.clicks.push(Click {
            link: LinkId(link),
            agent: 0,
            referrer: 0,
            query: 0,
            host: 0,
            ..one.clicks[0]
        });
    }
    let mut batch = EventBatch::default();
    let keys = |link: LinkId| (link.0 != 3).then(|| u64::try_from(link.0).unwrap());
    classifier().classify(&queued, &keys, &mut batch);
    assert_eq!(batch.links, [1, 2, 1].map(LinkId), "a link that is gone gives no event");
    assert_eq!(batch.visitors[0], batch.visitors[2]);
    assert_ne!(batch.visitors[0], batch.visitors[1]);
    assert!(batch.visitors.iter().all(|visitor| (1..1 << 40).contains(visitor)));

    let person = 0;
    for click in &mut queued.clicks {
        click.person = person;
    }
    let mut batch = EventBatch::default();
    classifier().classify(&queued, &keys, &mut batch);
    assert_eq!(batch.visitors, [0; 3], "not known");
}

#[test]
fn clicks_without_details_give_no_event() {
    let mut queued = QueuedClicks::default();
    queued.clicks.push(Click::new(LinkId(1), Timestamp::from_ms(0), 1));
    let mut batch = EventBatch::default();
    classifier().classify(&queued, &|_| Some(1), &mut batch);
    assert!(batch.is_empty());
}

#[test]
fn batches_that_are_added_to_one_another_equal_one_batch() {
    let requests = [
        request(),
        TestRequest { referrer: b"blog.example", language: b"fr", ..request() },
        TestRequest { flags: ClickFlags::PRIVATE, ..request() },
        TestRequest { agent: b"curl/8", flags: ClickFlags::OTHER, ..request() },
    ];
    let whole = classify(&mut classifier(), &requests);
    let mut classifier = classifier();
    let mut parts = EventBatch::default();
    for request in requests {
        // The same texts have other indexes in every batch.
        let mut queued = QueuedClicks::default();
        queued.texts.intern(HashedText::hashed(b"in between", SEED));
        request.queue(&mut queued);
        classifier.classify(&queued, &|_| Some(3), &mut parts);
    }
    assert_eq!(parts.len(), whole.len());
    for event in 0..whole.len() {
        for column in TextColumn::ALL {
            assert_eq!(parts.text(column, event), whole.text(column, event), "{event} {column:?}");
        }
    }
    for values in &parts.texts {
        let distinct: std::collections::BTreeSet<_> = values.dictionary.iter().collect();
        assert_eq!(distinct.len(), values.dictionary.len(), "each text is there once");
        assert_eq!(values.indexes.len(), parts.len());
    }
}

#[test]
fn answers_that_were_no_redirect_are_named() {
    let mut queued = QueuedClicks::default();
    for answer in [ClickAnswer::Gone, ClickAnswer::OverLimit, ClickAnswer::Redirect] {
        request().queue(&mut queued);
        queued.clicks.last_mut().unwrap().answer = answer;
    }
    let mut batch = EventBatch::default();
    classifier().classify(&queued, &|_| Some(1), &mut batch);
    let answers: Vec<_> = (0..3).map(|event| batch.text(TextColumn::Answer, event)).collect();
    assert_eq!(answers, ["410", "429", "30x"]);
}

// threats: E14
#[test]
fn hostile_texts_become_short_values_without_control_characters() {
    let long = vec![b'x'; 16_384];
    let hostile: [&[u8]; 6] =
        [b"\x00\x01\x02", b"\xff\xfe", b"\x01", b"a\r\nb", "\u{202e}x".as_bytes(), &long];
    let queries: Vec<Vec<u8>> =
        hostile.iter().map(|text| [b"utm_source=", *text, b"&ref=%01%00"].concat()).collect();
    let requests: Vec<_> = hostile
        .iter()
        .zip(&queries)
        .map(|(text, query)| TestRequest {
            agent: text,
            referrer: text,
            host: text,
            language: text,
            query,
            address: "8.8.8.8",
            country: b"\xff\xff",
            flags: ClickFlags::NONE,
        })
        .collect();
    let batch = classify(&mut classifier(), &requests);
    for values in &batch.texts {
        for text in &values.dictionary {
            assert!(text.len() <= 255 && !text.chars().any(char::is_control), "{text:?}");
        }
    }
    for event in 0..batch.len() {
        assert_eq!(
            batch.text(TextColumn::Country, event),
            "US",
            "letters that are none do not win"
        );
        assert_eq!(batch.text(TextColumn::Language, event), UNKNOWN);
    }
}

#[test]
fn a_batch_of_distinct_texts_is_classified_as_a_whole() {
    let mut queued = QueuedClicks::default();
    for number in 0..10_000_u32 {
        let agent = format!(
            "Mozilla/5.0 (X11; Linux x86_64; rv:{number}) Gecko/20100101 Firefox/{number}.0"
        );
        let referrer = format!("r{number}.example");
        let request =
            TestRequest { agent: agent.as_bytes(), referrer: referrer.as_bytes(), ..request() };
        request.queue(&mut queued);
    }
    assert!(queued.texts.dropped() > 0, "not all of them find room");
    let mut batch = EventBatch::default();
    let mut classifier = classifier();
    classifier.classify(&queued, &|_| Some(1), &mut batch);
    assert_eq!(batch.len(), 10_000);
    assert_eq!(batch.text(TextColumn::BrowserVersion, 17), "17");
    assert_eq!(batch.text(TextColumn::Referrer, 17), "r17.example");
    assert_eq!(batch.text(TextColumn::Browser, 9_999), UNKNOWN, "its text found no room");
    assert!(classifier.agents.len() <= super::super::CACHED_AGENTS);
}
