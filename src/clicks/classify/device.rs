//! The class of a device, and the app whose built-in browser was used, by parts of the user agent.

/// Parts of the user agents of apps, and their names. The first that matches wins: Messenger's is also
/// Facebook's.
const APPS: &[(&str, &str)] = &[
    ("Barcelona ", "Threads"),
    ("Instagram", "Instagram"),
    ("FBAN/MessengerForiOS", "Messenger"),
    ("FB_IAB/MESSENGER", "Messenger"),
    ("FB_IAB/Orca", "Messenger"),
    ("MetaIAB Messenger", "Messenger"),
    ("FBAN/", "Facebook"),
    ("FB_IAB/", "Facebook"),
    ("FBAV/", "Facebook"),
    ("MetaIAB Facebook", "Facebook"),
    ("musical_ly", "TikTok"),
    ("BytedanceWebview", "TikTok"),
    ("ByteLocale", "TikTok"),
    ("trill_", "TikTok"),
    ("TikTok", "TikTok"),
    ("LinkedInApp", "LinkedIn"),
    ("Snapchat", "Snapchat"),
    ("Pinterest/", "Pinterest"),
    ("Pinterest for ", "Pinterest"),
    ("wxwork/", "WeCom"),
    ("MicroMessenger", "WeChat"),
    ("Twitter for ", "X"),
    ("TwitterAndroid", "X"),
    ("Telegram", "Telegram"),
    ("KAKAOTALK", "KakaoTalk"),
    ("NAVER(inapp", "NAVER"),
    (" Line/", "LINE"),
    ("Reddit/", "Reddit"),
    ("Discord/", "Discord"),
    ("Slack_SSB", "Slack"),
    ("Slack/", "Slack"),
    ("Teams/", "Microsoft Teams"),
    ("TeamsMobile", "Microsoft Teams"),
    ("Viber", "Viber"),
    ("VKAndroidApp", "VK"),
    ("VKClient", "VK"),
    ("OKApp", "Odnoklassniki"),
    ("AlipayClient", "Alipay"),
    ("DingTalk", "DingTalk"),
    ("Lark/", "Lark"),
    ("Weibo", "Weibo"),
    ("baiduboxapp", "Baidu"),
    (" QQ/", "QQ"),
    ("Zalo", "Zalo"),
    ("Flipboard", "Flipboard"),
    ("Quora", "Quora"),
    ("Tumblr", "Tumblr"),
    ("TopBuzz", "TopBuzz"),
    ("Outlook", "Outlook"),
    ("Thunderbird/", "Thunderbird"),
    ("Spotify/", "Spotify"),
    ("GSA/", "Google"),
];

const TVS: &[&str] = &[
    "smarttv",
    "smart-tv",
    "smart tv",
    "hbbtv",
    "appletv",
    "apple tv",
    "googletv",
    "google tv",
    "android tv",
    "androidtv",
    "bravia",
    "crkey",
    "roku",
    "netcast",
    "web0s",
    "webos.tv",
    "viera",
    "philipstv",
    "nettv/",
    "mibox",
    "mitv",
    "xiaomi tv",
    "tv safari",
    "dtv",
    "netbox",
    "webtv",
    "; aft",
    "pov_tv",
    "espial",
];
const CONSOLES: &[&str] = &["playstation", "xbox", "nintendo", "dreamcast", "ouya"];
const WEARABLES: &[&str] =
    &["apple watch", "watchos", "wear os", "galaxy watch", "oculusbrowser", "; quest", "glass "];
const TABLETS: &[&str] = &[
    "ipad",
    "tablet",
    "playbook",
    "kindle",
    "nexus 7",
    "nexus 10",
    "hp-tablet",
    "sm-t",
    "sm-x",
    "silk/",
];
const PHONES: &[&str] = &[
    "iphone",
    "ipod",
    "windows phone",
    "iemobile",
    "mobile",
    "opera mini",
    "opera mobi",
    "blackberry",
    "bb10",
    "symb",
    "series60",
    "series40",
    "nokia",
    "midp",
    "kaios",
    "ucweb",
    "up.browser",
    "webos/",
    "bada",
    "meego",
    "maemo",
    "windows ce",
    "brew",
    "netfront",
    "obigo",
    "teleca",
    "palm",
    "sonyericsson",
    "samsung-",
    "docomo",
];
const DESKTOPS: &[&str] = &[
    "windows",
    "win98",
    "win95",
    "win 9x",
    "winnt",
    "win32",
    "macintosh",
    "mac_powerpc",
    "mac os x",
    "x11",
    "cros",
    "linux",
    "bsd",
    "sunos",
    "haiku",
    "serenityos",
];

/// The app whose built-in browser has this user agent.
pub(super) fn app_of(agent: &str) -> Option<&'static str> {
    APPS.iter().find(|(part, _)| agent.contains(part)).map(|(_, name)| *name)
}

/// `phone`, `tablet`, `desktop`, `tv`, `console`, `wearable` or `unknown`.
pub(super) fn device_of(agent: &str) -> &'static str {
    let agent = agent.to_ascii_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| agent.contains(part));
    let is_windows = agent.contains("windows nt");
    let is_android =
        agent.contains("android") || agent.contains("; adr ") || agent.contains("harmony");
    if has(CONSOLES) {
        "console"
    } else if has(TVS) {
        "tv"
    } else if has(WEARABLES) {
        "wearable"
    } else if is_windows && !agent.contains("windows phone") {
        // Windows' browsers call any computer with a pen a tablet.
        "desktop"
    } else if agent.contains("iphone") && !agent.contains("ipad") {
        "phone"
    } else if has(TABLETS) {
        "tablet"
    } else if is_android {
        // On Android phones say that they are mobile, and tablets do not. Opera Mini never does.
        if agent.contains("mobi") || agent.contains("opera mini") || agent.contains("ucweb") {
            "phone"
        } else {
            "tablet"
        }
    } else if has(PHONES) {
        "phone"
    } else if has(DESKTOPS) {
        "desktop"
    } else {
        "unknown"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_of_device_is_told_from_the_others() {
        let cases: &[(&str, &str)] = &[
            ("Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) Mobile/15E148", "phone"),
            ("Mozilla/5.0 (iPad; CPU OS 17_4 like Mac OS X) Mobile/15E148", "tablet"),
            (
                "Mozilla/5.0 (Linux; Android 14; Pixel 8) Chrome/126.0.0.0 Mobile Safari/537.36",
                "phone",
            ),
            (
                "Mozilla/5.0 (Linux; Android 14; Pixel Tablet) Chrome/126.0.0.0 Safari/537.36",
                "tablet",
            ),
            ("Mozilla/5.0 (Android 14; Tablet; rv:126.0) Gecko/126.0 Firefox/126.0", "tablet"),
            ("Mozilla/5.0 (Windows NT 6.1; Trident/7.0; Touch; Tablet PC 2.0; rv:11.0)", "desktop"),
            ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Safari/605.1.15", "desktop"),
            ("Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) Chrome/126.0.0.0 Safari/537.36", "desktop"),
            ("Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) Version/6.0 TV Safari/537.36", "tv"),
            ("Mozilla/5.0 (Linux; Android 9; AFTWMST22 Build/PS7229) Silk/100 Safari/537.36", "tv"),
            (
                "Mozilla/5.0 (PlayStation; PlayStation 5/7.00) Version/16.4 Safari/605.1.15",
                "console",
            ),
            ("Mozilla/5.0 (Windows NT 10.0; Win64; x64; Xbox; Xbox Series X) Edg/121", "console"),
            (
                "Mozilla/5.0 (X11; Linux x86_64; Quest 3) OculusBrowser/32.0 VR Safari/537.36",
                "wearable",
            ),
            ("Mozilla/5.0", "unknown"),
            ("", "unknown"),
        ];
        for (agent, device) in cases {
            assert_eq!(device_of(agent), *device, "{agent}");
        }
    }
}
