//! QR codes of addresses, as SVG and PNG. The same address and look give the same bytes.
//!
//! Invariants: nothing of the address becomes markup; every [`Look`] is within its bounds.

use std::fmt::Write;

use qrcode::types::Color;
use qrcode::{EcLevel, QrCode};
use thiserror::Error;

/// The smallest side of an image, in pixels.
pub const LEAST: u32 = 64;
/// The largest side of an image, in pixels.
pub const MOST: u32 = 1024;
/// The quiet zone around the code, in modules, without which readers do not find it.
const QUIET: usize = 4;

/// Size and colours of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    pub size: u32,
    pub dark: Rgb,
    pub light: Rgb,
}

impl Default for Look {
    fn default() -> Self {
        Self { size: 256, dark: Rgb([0; 3]), light: Rgb([255; 3]) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub [u8; 3]);

impl Rgb {
    /// Six hexadecimal digits, perhaps with a `#` in front.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#').unwrap_or(text);
        let plain = digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let number = plain.then(|| u32::from_str_radix(digits, 16).ok()).flatten()?;
        let [_, red, green, blue] = number.to_be_bytes();
        Some(Self([red, green, blue]))
    }

    fn hex(self) -> String {
        let [red, green, blue] = self.0;
        format!("#{red:02x}{green:02x}{blue:02x}")
    }
}

/// Why no image can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum QrError {
    /// The size is out of bounds.
    #[error("a QR code's size is a whole number from {LEAST} to {MOST}")]
    Size,
    #[error("a QR code's colours are six hexadecimal digits, such as 1a2b3c")]
    Colour,
    /// The address is too long for a QR code.
    #[error("the address is too long for a QR code")]
    TooLong,
}

impl QrError {
    /// The stable name of the error.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Size => "qr-size-invalid",
            Self::Colour => "qr-colour-invalid",
            Self::TooLong => "qr-too-long",
        }
    }
}

impl Look {
    /// The look that a request asks for, with defaults for what it does not set.
    pub fn read(
        size: Option<u32>,
        dark: Option<&str>,
        light: Option<&str>,
    ) -> Result<Self, QrError> {
        let normal = Self::default();
        let colour = |text: Option<&str>, otherwise| {
            text.map_or(Ok(otherwise), |text| Rgb::parse(text).ok_or(QrError::Colour))
        };
        let size = size.unwrap_or(normal.size);
        if !(LEAST..=MOST).contains(&size) {
            return Err(QrError::Size);
        }
        let (dark, light) = (colour(dark, normal.dark)?, colour(light, normal.light)?);
        Ok(Self { size, dark, light })
    }
}

/// The modules of a code, row by row, with the quiet zone.
struct Modules {
    side: usize,
    dark: Vec<bool>,
}

fn modules(text: &str) -> Result<Modules, QrError> {
    let code = QrCode::with_error_correction_level(text, EcLevel::M);
    let code = code.map_err(|_| QrError::TooLong)?;
    let (width, colours) = (code.width(), code.to_colors());
    let side = width + 2 * QUIET;
    let mut dark = vec![false; side * side];
    for (at, colour) in colours.into_iter().enumerate() {
        let place = (at / width + QUIET) * side + at % width + QUIET;
        if let Some(module) = dark.get_mut(place) {
            *module = colour == Color::Dark;
        }
    }
    Ok(Modules { side, dark })
}

pub fn svg(text: &str, look: &Look) -> Result<String, QrError> {
    let Modules { side, dark } = modules(text)?;
    let mut path = String::new();
    for (at, _) in dark.iter().enumerate().filter(|(_, dark)| **dark) {
        let _ = write!(path, "M{} {}h1v1h-1z", at % side, at / side);
    }
    let (size, fore, back) = (look.size, look.dark.hex(), look.light.hex());
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{size}\" height=\"{size}\" \
         viewBox=\"0 0 {side} {side}\" shape-rendering=\"crispEdges\">\
         <path fill=\"{back}\" d=\"M0 0h{side}v{side}h-{side}z\"/>\
         <path fill=\"{fore}\" d=\"{path}\"/></svg>"
    ))
}

/// A PNG image. Its side is the largest multiple of the modules that fits, so that all modules
/// are equally large; at least one pixel each.
pub fn png(text: &str, look: &Look) -> Result<Vec<u8>, QrError> {
    let Modules { side, dark } = modules(text)?;
    let scale = usize::try_from(look.size).unwrap_or(side) / side;
    let scale = scale.max(1);
    let pixels = side * scale;
    let mut bits = Vec::with_capacity(pixels * pixels.div_ceil(8));
    for row in dark.chunks(side) {
        let line: Vec<bool> =
            row.iter().flat_map(|dark| std::iter::repeat_n(*dark, scale)).collect();
        let packed: Vec<u8> = line
            .chunks(8)
            .map(|byte| {
                byte.iter().zip((0..8).rev()).fold(0, |all, (bit, at)| all | u8::from(*bit) << at)
            })
            .collect();
        for _ in 0..scale {
            bits.extend_from_slice(&packed);
        }
    }
    let failed = |_| QrError::TooLong;
    let mut out = Vec::new();
    let pixels = u32::try_from(pixels).unwrap_or(u32::MAX);
    let mut encoder = png::Encoder::new(&mut out, pixels, pixels);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::One);
    encoder.set_palette([look.light.0, look.dark.0].concat());
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(&bits).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Decodes an image, given its pixels in shades of grey.
    fn read_back(side: usize, grey: impl Fn(usize, usize) -> u8) -> String {
        let mut image = rqrr::PreparedImage::prepare_from_greyscale(side, side, grey);
        let grids = image.detect_grids();
        assert_eq!(grids.len(), 1, "one code in the image");
        grids[0].decode().unwrap().1
    }

    fn read_png(bytes: &[u8]) -> (usize, String) {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        let side = usize::try_from(info.width).unwrap();
        let text = read_back(side, |x, y| pixels[(y * side + x) * 3]);
        (side, text)
    }

    fn read_svg(svg: &str) -> String {
        let view = svg.split("viewBox=\"0 0 ").nth(1).unwrap();
        let side: usize = view.split(' ').next().unwrap().parse().unwrap();
        let path = svg.rsplit(" d=\"").next().unwrap();
        let mut dark = vec![false; side * side];
        for module in path.split('M').skip(1) {
            let (x, rest) = module.split_once(' ').unwrap();
            let y = rest.split('h').next().unwrap();
            dark[y.parse::<usize>().unwrap() * side + x.parse::<usize>().unwrap()] = true;
        }
        let scale = 4;
        read_back(side * scale, |x, y| if dark[y / scale * side + x / scale] { 0 } else { 255 })
    }

    // threats: H14
    #[test]
    fn looks_have_bounds() {
        assert_eq!(Look::read(None, None, None), Ok(Look::default()));
        let look = Look::read(Some(64), Some("#1A2b3c"), Some("ffffff")).unwrap();
        assert_eq!((look.dark, look.light), (Rgb([0x1a, 0x2b, 0x3c]), Rgb([255; 3])));
        for size in [0, 63, 1025, u32::MAX] {
            assert_eq!(Look::read(Some(size), None, None), Err(QrError::Size));
        }
        for colour in ["", "red", "12345", "1234567", "+12345", "ä1234", "\"><scr", "##12345"] {
            assert_eq!(Look::read(None, Some(colour), None), Err(QrError::Colour), "{colour}");
            assert_eq!(Look::read(None, None, Some(colour)), Err(QrError::Colour), "{colour}");
        }
        assert_eq!(svg(&"x".repeat(8000), &Look::default()), Err(QrError::TooLong));
    }

    #[test]
    fn an_image_has_the_requested_size_as_far_as_modules_allow() {
        let text = "https://kurz.example/w/some-workspace/some-code";
        for size in [LEAST, 200, MOST] {
            let look = Look::read(Some(size), Some("00a"), None)
                .unwrap_or(Look { size, ..Look::default() });
            let (side, read) = read_png(&png(text, &look).unwrap());
            assert_eq!(read, text);
            assert!(side <= usize::try_from(size).unwrap(), "{side} of {size}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn every_address_can_be_decoded(path in "[a-zA-Z0-9_/-]{1,140}") {
            let text = format!("https://kurz.example/{path}");
            let look = Look { size: 512, dark: Rgb([20, 30, 90]), light: Rgb([250, 250, 240]) };
            prop_assert_eq!(&read_png(&png(&text, &look).unwrap()).1, &text);
            prop_assert_eq!(&read_svg(&svg(&text, &look).unwrap()), &text);
        }
    }
}
