//! Names of bots and link previews. Whether a user agent is a bot's is decided by the worker's list
//! ([`kurz_core::clicks::is_bot`]); this only says what it is called.

use kurz_core::analytics::Class;

use super::text::cut;

/// Parts of user agents in lower case, and names, of what fetches a link to show a preview of it.
const PREVIEWS: &[(&str, &str)] = &[
    ("facebookexternalhit", "facebookexternalhit"),
    ("facebot", "Facebot"),
    ("meta-externalfetcher", "meta-externalfetcher"),
    ("slackbot", "Slackbot"),
    ("slack-imgproxy", "Slack-ImgProxy"),
    ("telegrambot", "TelegramBot"),
    ("twitterbot", "Twitterbot"),
    ("discordbot", "Discordbot"),
    ("whatsapp", "WhatsApp"),
    ("linkedinbot", "LinkedInBot"),
    ("pinterestbot", "Pinterestbot"),
    ("pinterest.com/bot", "Pinterestbot"),
    ("redditbot", "redditbot"),
    ("skypeuripreview", "SkypeUriPreview"),
    ("microsoftpreview", "MicrosoftPreview"),
    ("bingpreview", "BingPreview"),
    ("teamsbot", "TeamsBot"),
    ("google web preview", "Google Web Preview"),
    ("google-pagerenderer", "Google-PageRenderer"),
    ("snap url preview", "Snap URL Preview"),
    ("snapurlpreview", "Snap URL Preview"),
    ("vkshare", "vkShare"),
    ("odklbot", "OdklBot"),
    ("viber", "Viber"),
    ("line-poker", "LINE"),
    ("kakaotalk-scrap", "KakaoTalk"),
    ("embedly", "Embedly"),
    ("iframely", "Iframely"),
    ("mastodon", "Mastodon"),
    ("pleroma", "Pleroma"),
    ("misskey", "Misskey"),
    ("lemmy", "Lemmy"),
    ("summalybot", "SummalyBot"),
    ("cardyb", "Bluesky Cardyb"),
    ("bluesky", "Bluesky"),
    ("mattermost", "Mattermost"),
    ("rocket.chat", "Rocket.Chat"),
    ("synapse", "Synapse"),
    ("keybasebot", "KeybaseBot"),
    ("groupmebot", "GroupMeBot"),
    ("tumblr", "Tumblr"),
    ("flipboardproxy", "FlipboardProxy"),
    ("nuzzel", "Nuzzel"),
    ("bitlybot", "bitlybot"),
    ("bufferlinkpreviewbot", "Buffer"),
    ("clickuplinkunfurler", "ClickUp"),
    ("notion/", "Notion"),
    ("atlassian-bot", "atlassian-bot"),
    ("evernoterichlinkbot", "EvernoteRichLinkBot"),
    ("discourse forum onebox", "Discourse"),
    ("valve/steam", "Steam"),
    ("yahoo link preview", "Yahoo Link Preview"),
    ("chatwork linkpreview", "Chatwork"),
    ("linkpreview", "LinkPreview"),
    ("link preview", "LinkPreview"),
    ("unfurl", "Unfurl"),
];

/// Parts of user agents in lower case, and names, of bots. The first that matches wins.
const BOTS: &[(&str, &str)] = &[
    // AI
    ("gptbot", "GPTBot"),
    ("oai-searchbot", "OAI-SearchBot"),
    ("chatgpt-user", "ChatGPT-User"),
    ("claude-searchbot", "Claude-SearchBot"),
    ("claude-user", "Claude-User"),
    ("claude-web", "Claude-Web"),
    ("claudebot", "ClaudeBot"),
    ("anthropic-ai", "anthropic-ai"),
    ("perplexitybot", "PerplexityBot"),
    ("perplexity-user", "Perplexity-User"),
    ("google-extended", "Google-Extended"),
    ("google-cloudvertexbot", "Google-CloudVertexBot"),
    ("gemini-deep-research", "Gemini-Deep-Research"),
    ("google-notebooklm", "Google-NotebookLM"),
    ("meta-externalagent", "meta-externalagent"),
    ("meta-webindexer", "meta-webindexer"),
    ("facebookcatalog", "facebookcatalog"),
    ("facebookbot", "FacebookBot"),
    ("mistralai-user", "MistralAI-User"),
    ("duckassistbot", "DuckAssistBot"),
    ("bytespider", "Bytespider"),
    ("tiktokspider", "TikTokSpider"),
    ("ccbot", "CCBot"),
    ("cohere-", "cohere-ai"),
    ("deepseekbot", "DeepSeekBot"),
    ("youbot", "YouBot"),
    ("ai2bot", "AI2Bot"),
    ("diffbot", "Diffbot"),
    ("firecrawl", "FirecrawlAgent"),
    ("tavilybot", "TavilyBot"),
    ("manus-user", "Manus-User"),
    ("amzn-searchbot", "Amzn-SearchBot"),
    ("amazonbot", "Amazonbot"),
    // Search
    ("adsbot-google", "AdsBot-Google"),
    ("mediapartners", "Mediapartners-Google"),
    ("storebot-google", "Storebot-Google"),
    ("google-inspectiontool", "Google-InspectionTool"),
    ("google-read-aloud", "Google-Read-Aloud"),
    ("google-site-verification", "Google-Site-Verification"),
    ("googleimageproxy", "GoogleImageProxy"),
    ("googleother", "GoogleOther"),
    ("google-safety", "Google-Safety"),
    ("google favicon", "Google Favicon"),
    ("feedfetcher-google", "FeedFetcher-Google"),
    ("apis-google", "APIs-Google"),
    ("googlebot", "Googlebot"),
    ("adidxbot", "adidxbot"),
    ("bingbot", "bingbot"),
    ("msnbot", "msnbot"),
    ("duckduckbot", "DuckDuckBot"),
    ("duckduckgo", "DuckDuckGo"),
    ("applebot", "Applebot"),
    ("yandex", "YandexBot"),
    ("baiduspider", "Baiduspider"),
    ("sogou", "Sogou"),
    ("360spider", "360Spider"),
    ("yisouspider", "YisouSpider"),
    ("petalbot", "PetalBot"),
    ("aspiegelbot", "PetalBot"),
    ("seznambot", "SeznamBot"),
    ("mail.ru_bot", "Mail.RU_Bot"),
    ("yeti/", "Yeti"),
    ("naverbot", "Yeti"),
    ("daum", "Daum"),
    ("coccoc", "coccocbot"),
    ("qwant", "Qwantbot"),
    ("mojeekbot", "MojeekBot"),
    ("bravebot", "BraveBot"),
    ("kagi", "Kagibot"),
    ("exabot", "Exabot"),
    ("slurp", "Slurp"),
    ("ia_archiver", "ia_archiver"),
    ("archive.org_bot", "archive.org_bot"),
    ("heritrix", "Heritrix"),
    ("nutch", "Nutch"),
    // Search engine optimisation and security
    ("ahrefs", "AhrefsBot"),
    ("semrush", "SemrushBot"),
    ("mj12bot", "MJ12bot"),
    ("dotbot", "DotBot"),
    ("rogerbot", "rogerbot"),
    ("blexbot", "BLEXBot"),
    ("dataforseobot", "DataForSeoBot"),
    ("serpstatbot", "serpstatbot"),
    ("seokicks", "SEOkicks"),
    ("sistrix", "SISTRIX"),
    ("screaming frog", "Screaming Frog"),
    ("barkrowler", "Barkrowler"),
    ("megaindex", "MegaIndex"),
    ("linkdex", "linkdex"),
    ("awario", "AwarioBot"),
    ("turnitin", "Turnitin"),
    ("criteobot", "CriteoBot"),
    ("proximic", "proximic"),
    ("grapeshot", "GrapeshotCrawler"),
    ("censysinspect", "CensysInspect"),
    ("internetmeasurement", "InternetMeasurement"),
    ("expanse", "Expanse"),
    ("netcraft", "Netcraft"),
    ("virustotal", "VirusTotal"),
    ("zgrab", "zgrab"),
    ("masscan", "masscan"),
    ("nmap", "Nmap"),
    ("nikto", "Nikto"),
    ("sqlmap", "sqlmap"),
    ("wpscan", "WPScan"),
    // Monitors
    ("uptimerobot", "UptimeRobot"),
    ("uptime-kuma", "Uptime-Kuma"),
    ("better uptime", "Better Uptime"),
    ("betteruptime", "Better Uptime"),
    ("pingdom", "Pingdom"),
    ("statuscake", "StatusCake"),
    ("site24x7", "Site24x7"),
    ("datadog", "Datadog"),
    ("newrelic", "New Relic"),
    ("checkly", "Checkly"),
    ("gtmetrix", "GTmetrix"),
    ("lighthouse", "Lighthouse"),
    ("pagespeed", "PageSpeed"),
    ("ptst/", "WebPageTest"),
    ("zabbix", "Zabbix"),
    ("prtg", "PRTG"),
    ("blackbox exporter", "Blackbox Exporter"),
    ("cloudflare", "Cloudflare"),
    ("w3c_validator", "W3C_Validator"),
    ("w3c-checklink", "W3C-checklink"),
    // Feeds
    ("feedly", "Feedly"),
    ("inoreader", "Inoreader"),
    ("newsblur", "NewsBlur"),
    ("freshrss", "FreshRSS"),
    ("miniflux", "Miniflux"),
    ("tiny tiny rss", "Tiny Tiny RSS"),
    ("feedbin", "Feedbin"),
    ("netvibes", "Netvibes"),
    // Automated browsers and libraries
    ("headlesschrome", "HeadlessChrome"),
    ("phantomjs", "PhantomJS"),
    ("playwright", "Playwright"),
    ("puppeteer", "Puppeteer"),
    ("selenium", "Selenium"),
    ("scrapy", "Scrapy"),
    ("curl", "curl"),
    ("wget", "Wget"),
    ("python-requests", "python-requests"),
    ("python-urllib", "Python-urllib"),
    ("python-httpx", "python-httpx"),
    ("aiohttp", "aiohttp"),
    ("go-http-client", "Go-http-client"),
    ("okhttp", "okhttp"),
    ("apache-httpclient", "Apache-HttpClient"),
    ("java/", "Java"),
    ("node-fetch", "node-fetch"),
    ("axios", "axios"),
    ("undici", "undici"),
    ("sindresorhus/got", "got"),
    ("libwww-perl", "libwww-perl"),
    ("guzzle", "Guzzle"),
    ("postman", "Postman"),
    ("insomnia", "Insomnia"),
    ("httpie", "HTTPie"),
    ("wordpress", "WordPress"),
    ("cfnetwork", "CFNetwork"),
    ("dalvik", "Dalvik"),
    ("powershell", "PowerShell"),
    ("winhttp", "WinHTTP"),
];

/// A word of the name of a bot that is in neither table.
const NAME_ENDS: [&str; 4] = ["bot", "crawl", "spider", "fetch"];

/// Words of the user agents of browsers.
const BROWSER_WORDS: [&str; 36] = [
    "Mozilla",
    "AppleWebKit",
    "KHTML",
    "like",
    "Gecko",
    "Chrome",
    "Safari",
    "Version",
    "Mobile",
    "15E148",
    "Firefox",
    "Edg",
    "Edge",
    "Trident",
    "Electron",
    "Linux",
    "x86_64",
    "X11",
    "Windows",
    "NT",
    "Win64",
    "x64",
    "WOW64",
    "Macintosh",
    "Intel",
    "Mac",
    "OS",
    "X",
    "Android",
    "iPhone",
    "iPad",
    "CPU",
    "U",
    "wv",
    "rv",
    "Agent",
];

/// Whether a bot shows previews, and its name, at most 64 bytes; empty when it says none.
pub(super) fn name_bot(agent: &str) -> (Class, &str) {
    let lower = agent.to_ascii_lowercase();
    let find = |table: &'static [(&str, &'static str)]| {
        table.iter().find(|(part, _)| lower.contains(part)).map(|(_, name)| *name)
    };
    // Telegram's and others call themselves like Twitter's, and Apple's like Facebook's and Twitter's.
    if lower.contains("applebot") {
        return (Class::Bot, "Applebot");
    }
    if let Some(name) = find(PREVIEWS) {
        return (Class::Preview, name);
    }
    (Class::Bot, find(BOTS).unwrap_or_else(|| own_name(agent)))
}

/// The name that a bot gives itself: the first word that ends like a bot's, else the program's name.
fn own_name(agent: &str) -> &str {
    let is_part = |letter: char| letter.is_alphanumeric() || "-_.!".contains(letter);
    let words = || agent.split(|letter: char| !is_part(letter)).filter(|word| !word.is_empty());
    let is_name = |word: &&str| {
        let word = word.to_ascii_lowercase();
        NAME_ENDS.iter().any(|end| word.contains(end)) && !word.contains(".htm")
    };
    if let Some(name) = words().find(is_name) {
        return cut(name);
    }
    let after = |mark: &str| agent.split_once(mark).map(|(_, rest)| rest.trim_start());
    let rest = after("compatible;").or_else(|| after("Compatible;"));
    let rest = rest.or_else(|| (!agent.starts_with("Mozilla/")).then_some(agent));
    let name = rest.and_then(|rest| rest.split(['/', ';', '(', ')', ',']).next());
    if let Some(name) = name.map(str::trim).filter(|name| !name.is_empty()) {
        return cut(name);
    }
    // Dressed as a browser: the last word that browsers do not have.
    let is_own = |word: &&str| {
        word.contains(|letter: char| letter.is_alphabetic())
            && !BROWSER_WORDS.iter().any(|known| word.eq_ignore_ascii_case(known))
    };
    words().rfind(is_own).map_or("", cut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurz_core::clicks::is_bot;

    #[test]
    fn every_name_of_the_tables_is_a_bot_of_the_workers_list() {
        for (part, name) in PREVIEWS.iter().chain(BOTS) {
            assert_eq!(*part, part.to_ascii_lowercase());
            assert!(is_bot(format!("{part}1.0").as_bytes()), "{name}");
        }
    }

    #[test]
    fn known_bots_and_previews_have_their_names() {
        let cases: &[(&str, Class, &str)] = &[
            (
                "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
                Class::Bot,
                "Googlebot",
            ),
            ("GPTBot/1.2 (+https://openai.com/gptbot)", Class::Bot, "GPTBot"),
            ("facebookexternalhit/1.1", Class::Preview, "facebookexternalhit"),
            ("TelegramBot (like TwitterBot)", Class::Preview, "TelegramBot"),
            ("WhatsApp/2.23.20.0 A", Class::Preview, "WhatsApp"),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 Version/17.4 Safari/605.1.15 (Applebot/0.1; like facebookexternalhit)",
                Class::Bot,
                "Applebot",
            ),
            ("curl/8.5.0", Class::Bot, "curl"),
            (
                "Mozilla/5.0 (compatible; ExampleCrawler/3.1; +https://e.example)",
                Class::Bot,
                "ExampleCrawler",
            ),
            ("Mozilla/5.0 (compatible; Something/3.1)", Class::Bot, "Something"),
            ("My Program/7 (Linux)", Class::Bot, "My Program"),
            ("Mozilla/5.0 (X11) AppleWebKit/537.36 Rigor) Strange/1", Class::Bot, "Strange"),
            ("/", Class::Bot, ""),
        ];
        for (agent, class, name) in cases {
            assert_eq!(name_bot(agent), (*class, *name), "{agent}");
        }
    }

    #[test]
    fn a_long_name_is_cut() {
        let agent = format!("{}bot/1", "é".repeat(200));
        let (_, name) = name_bot(&agent);
        assert!(name.len() <= 64 && name.starts_with('é'), "{name}");
    }
}
