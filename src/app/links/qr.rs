//! QR codes of links, for those who may see the link.

use crate::app::{App, AppError, FieldError};
use kurz_core::account::Caller;
use kurz_core::code::WorkspaceId;
use kurz_core::link::qr::{self, Look, QrError};

/// What a picture is made as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QrFormat {
    Svg,
    Png,
}

impl QrFormat {
    pub fn parse(text: &str) -> Result<Self, AppError> {
        match text {
            "svg" => Ok(Self::Svg),
            "png" => Ok(Self::Png),
            _ => {
                let detail = "a QR code is an svg or a png";
                Err(FieldError::new("format", "qr-format-invalid", detail).into())
            }
        }
    }

    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Svg => "image/svg+xml",
            Self::Png => "image/png",
        }
    }
}

#[derive(Clone, Debug)]
pub struct QrImage {
    pub format: QrFormat,
    pub bytes: Vec<u8>,
}

impl App {
    /// The QR code of a link's short address.
    pub async fn link_qr(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        code: &str,
        format: QrFormat,
        look: &Look,
    ) -> Result<QrImage, AppError> {
        let shown = self.show_link(caller, workspace, code).await?;
        let bytes = match format {
            QrFormat::Svg => qr::svg(&shown.short_url, look).map(String::into_bytes),
            QrFormat::Png => qr::png(&shown.short_url, look),
        };
        Ok(QrImage { format, bytes: bytes.map_err(AppError::from)? })
    }
}

impl From<QrError> for AppError {
    fn from(error: QrError) -> Self {
        let field = match error {
            QrError::Size => "size",
            QrError::Colour => "dark",
            QrError::TooLong => "short_url",
        };
        FieldError::new(field, error.code(), error).into()
    }
}
