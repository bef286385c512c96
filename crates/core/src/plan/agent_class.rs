//! The class of a user agent, as rules and pages go by it: 24 bits that a worker remembers for each text.

use super::names::names;

names! {
    Device {
        Phone = "phone",
        Tablet = "tablet",
        Desktop = "desktop",
        Tv = "tv",
        Console = "console",
        Wearable = "wearable",
    }
}

names! {
    Os {
        Ios = "ios",
        Android = "android",
        Windows = "windows",
        Macos = "macos",
        Linux = "linux",
        Chromeos = "chromeos",
        Other = "other",
    }
}

names! {
    Browser {
        Chrome = "chrome",
        Safari = "safari",
        Firefox = "firefox",
        Edge = "edge",
        Samsung = "samsung",
        Opera = "opera",
        Other = "other",
    }
}

names! {
    /// The app whose built-in browser it is.
    InApp {
        Instagram = "instagram",
        Facebook = "facebook",
        Tiktok = "tiktok",
        Linkedin = "linkedin",
        X = "x",
        Snapchat = "snapchat",
        Telegram = "telegram",
        Wechat = "wechat",
        Other = "other",
    }
}

names! {
    /// What a declared bot does.
    BotKind {
        /// It fetches a link to show a preview of it.
        Preview = "preview",
        Other = "other",
    }
}

/// Numbers from 1 on; 0 is left for what is unknown.
macro_rules! numbered {
    ($($kind:ident)+) => {$(
        impl $kind {
            #[expect(clippy::as_conversions, reason = "the number of a variant")]
            pub(super) const fn number(self) -> u8 {
                self as u8 + 1
            }

            fn from_number(number: u32) -> Option<Self> {
                let place = usize::try_from(number).ok()?.checked_sub(1)?;
                Self::ALL.get(place).copied()
            }
        }
    )+};
}

numbered!(Device Os Browser InApp BotKind);

/// What a user agent says. What is `None` is unknown, but for `in_app` and `bot`: there it means "none".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentClass {
    pub device: Option<Device>,
    pub os: Option<Os>,
    pub browser: Option<Browser>,
    pub in_app: Option<InApp>,
    pub bot: Option<BotKind>,
    /// Whether there was a user agent at all.
    pub is_known: bool,
}

impl AgentClass {
    /// As the lowest 24 bits; never 0 for a known one.
    #[inline]
    pub fn pack(self) -> u32 {
        let part = |number: Option<u8>, shift: u32| u32::from(number.unwrap_or_default()) << shift;
        part(self.device.map(Device::number), 0)
            | part(self.os.map(Os::number), 4)
            | part(self.browser.map(Browser::number), 8)
            | part(self.in_app.map(InApp::number), 12)
            | part(self.bot.map(BotKind::number), 16)
            | u32::from(self.is_known) << 20
    }

    /// From [`AgentClass::pack`].
    #[inline]
    pub fn unpack(bits: u32) -> Self {
        let part = |shift: u32| bits >> shift & 15;
        Self {
            device: Device::from_number(part(0)),
            os: Os::from_number(part(4)),
            browser: Browser::from_number(part(8)),
            in_app: InApp::from_number(part(12)),
            bot: BotKind::from_number(part(16)),
            is_known: bits >> 20 & 1 == 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_survives_a_round_trip_in_24_bits() {
        for device in Device::ALL.iter().copied().map(Some).chain([None]) {
            for (place, os) in Os::ALL.iter().copied().enumerate() {
                let class = AgentClass {
                    device,
                    os: Some(os),
                    browser: Browser::ALL.get(place).copied(),
                    in_app: InApp::ALL.get(place + 2).copied(),
                    bot: BotKind::ALL.get(place).copied(),
                    is_known: true,
                };
                assert_eq!(AgentClass::unpack(class.pack()), class);
                assert!(class.pack() < 1 << 24 && class.pack() != 0);
            }
        }
        assert_eq!(AgentClass::unpack(0), AgentClass::default());
        assert_eq!(AgentClass::unpack(u32::MAX).device, None, "an unknown number");
    }

    #[test]
    fn names_are_read() {
        assert_eq!(Device::parse("tv"), Some(Device::Tv));
        assert_eq!(InApp::parse("x").map(InApp::name), Some("x"));
        assert_eq!(Os::parse("iOS"), None);
    }
}
