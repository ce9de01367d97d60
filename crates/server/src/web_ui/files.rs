//! Files of the web UI, which `cargo xtask ui` builds into `ui/dist`; if they are missing, a placeholder page.
//!
//! A development build reads the directory on each request, so that a running server serves a rebuilt UI. A
//! release build embeds the files.

use std::borrow::Cow;

use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "../../ui/dist"]
#[allow_missing = true]
struct UiAssets;

/// Entry page of every path of the UI.
const INDEX: &str = "index.html";
const UNBUILT: &str = include_str!("unbuilt.html");
/// Directory into which Vite writes files whose names contain a hash of their content.
const HASHED_FOLDER: &str = "assets/";

/// Response body with its headers.
pub(super) struct File {
    pub(super) bytes: Cow<'static, [u8]>,
    pub(super) content_type: &'static str,
    /// Whether the name changes with the content, so that caches may store the file forever.
    pub(super) is_immutable: bool,
}

/// Returns a file by its path without a leading slash.
pub(super) fn file(path: &str) -> Option<File> {
    let content_type = content_type(path)?;
    let asset = UiAssets::get(path)?;
    Some(File { bytes: asset.data, content_type, is_immutable: path.starts_with(HASHED_FOLDER) })
}

pub(super) fn index() -> File {
    file(INDEX).unwrap_or(File {
        bytes: Cow::Borrowed(UNBUILT.as_bytes()),
        content_type: "text/html; charset=utf-8",
        is_immutable: false,
    })
}

/// Returns the content type of a file; `None` for unknown types, which are not served.
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
