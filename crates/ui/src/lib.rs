//! The web interface as files. `cargo xtask ui` builds them into `ui/dist`; without them there is one small page that
//! says so.
//!
//! A development build reads the folder each time, so that a rebuilt interface is served by a running server; a
//! release build has the files inside.

use std::borrow::Cow;

use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "../../ui/dist"]
#[allow_missing = true]
struct Built;

/// The page that every address of the interface begins with.
const INDEX: &str = "index.html";
const UNBUILT: &str = include_str!("unbuilt.html");
/// Vite puts files here whose names change with their content.
const HASHED_FOLDER: &str = "assets/";

/// A file as it is sent.
pub struct File {
    pub bytes: Cow<'static, [u8]>,
    pub content_type: &'static str,
    /// Its name changes when its content does, so that it may be kept for ever.
    pub is_immutable: bool,
}

/// A file by its path without a slash in front.
pub fn file(path: &str) -> Option<File> {
    let content_type = content_type(path)?;
    let found = Built::get(path)?;
    Some(File { bytes: found.data, content_type, is_immutable: path.starts_with(HASHED_FOLDER) })
}

/// The first page, whatever the address.
pub fn index() -> File {
    file(INDEX).unwrap_or(File {
        bytes: Cow::Borrowed(UNBUILT.as_bytes()),
        content_type: "text/html; charset=utf-8",
        is_immutable: false,
    })
}

/// Nothing is served whose type is not known.
fn content_type(path: &str) -> Option<&'static str> {
    let (_, extension) = path.rsplit_once('.')?;
    Some(match extension {
        "css" => "text/css; charset=utf-8",
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "woff2" => "font/woff2",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_always_a_page() {
        let page = index();
        assert!(page.content_type.starts_with("text/html"));
        assert!(!page.is_immutable);
        assert!(page.bytes.starts_with(b"<!doctype html>"));
    }

    #[test]
    fn only_files_of_the_interface_are_served() {
        for path in
            ["", "..", "../Cargo.toml", "../package.json", "assets/../../package.json", ".gitkeep", "no.js"]
        {
            assert!(file(path).is_none(), "{path}");
        }
    }
}
