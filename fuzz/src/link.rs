//! Of `src/link`, what draws QR codes.

#[path = "../../src/link/qr.rs"]
pub mod qr;
