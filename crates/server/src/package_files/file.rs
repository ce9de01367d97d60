//! A file as an HTTP response: complete, a byte range, or 304 Not Modified.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom};
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::UNIX_EPOCH;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use jiff::fmt::rfc2822::{DateTimeParser, DateTimePrinter};
use tokio::io::{AsyncRead, ReadBuf};
use tokio_stream::Stream;

use stoker_services::plugins::files::io_error;

use crate::http::error::ApiResult;

/// Chunk size of reads and sends.
const PIECE_BYTES: usize = 64 << 10;

const TYPES: &[(&str, &str)] = &[
    // sorted
    ("asc", "text/plain; charset=utf-8"),
    ("deb", "application/vnd.debian.binary-package"),
    ("gz", "application/gzip"),
    ("rpm", "application/x-rpm"),
    ("xml", "application/xml"),
    ("xz", "application/x-xz"),
    ("zst", "application/zstd"),
    // end sorted
];

pub(super) struct FileResponse {
    file: File,
    n_bytes: u64,
    modified: Timestamp,
    tag: String,
    content_type: &'static str,
}

/// Requested byte range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ByteRange {
    Whole,
    /// Start and exclusive end.
    Some(u64, u64),
    Nothing,
}

impl FileResponse {
    /// Opens a file. Returns `None` unless the path is a regular file inside the directory after resolving
    /// symbolic links.
    pub(super) fn open_inside(folder: &Path, path: &Path) -> Option<Self> {
        let (folder, path) = (folder.canonicalize().ok()?, path.canonicalize().ok()?);
        if !path.starts_with(&folder) || !path.is_file() {
            return None;
        }
        let file = File::open(&path).ok()?;
        let metadata = file.metadata().ok()?;
        let modified = metadata.modified().ok()?;
        let age = modified.duration_since(UNIX_EPOCH).ok()?;
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let entry = TYPES.iter().find(|(name, _)| *name == extension);
        Some(Self {
            file,
            n_bytes: metadata.len(),
            modified: Timestamp::from_second(age.as_secs().try_into().ok()?).ok()?,
            tag: format!("\"{:x}-{:x}\"", age.as_nanos(), metadata.len()),
            content_type: entry.map_or("application/octet-stream", |(_, name)| *name),
        })
    }

    pub(super) fn answer(mut self, method: &Method, headers: &HeaderMap) -> ApiResult<Response> {
        let modified = DateTimePrinter::new().timestamp_to_rfc9110_string(&self.modified).unwrap_or_default();
        let value = |text: &str| HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""));
        let mut response = StatusCode::OK.into_response();
        let response_headers = response.headers_mut();
        response_headers.insert(header::ETAG, value(&self.tag));
        response_headers.insert(header::LAST_MODIFIED, value(&modified));
        response_headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        // Cacheable only by the client, with revalidation.
        response_headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
        if self.is_known(headers) {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            return Ok(response);
        }
        let (start, end) = match self.part(headers, &modified) {
            ByteRange::Whole => (0, self.n_bytes),
            ByteRange::Some(start, end) => {
                let range = format!("bytes {start}-{}/{}", end - 1, self.n_bytes);
                response_headers.insert(header::CONTENT_RANGE, value(&range));
                *response.status_mut() = StatusCode::PARTIAL_CONTENT;
                (start, end)
            }
            ByteRange::Nothing => {
                response_headers.insert(header::CONTENT_RANGE, value(&format!("bytes */{}", self.n_bytes)));
                *response.status_mut() = StatusCode::RANGE_NOT_SATISFIABLE;
                return Ok(response);
            }
        };
        let response_headers = response.headers_mut();
        response_headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        response_headers.insert(header::CONTENT_LENGTH, HeaderValue::from(end - start));
        if *method != Method::HEAD {
            let seeking = self.file.seek(SeekFrom::Start(start));
            seeking.map_err(io_error)?;
            let file = tokio::fs::File::from_std(self.file);
            *response.body_mut() =
                Body::from_stream(Pieces { file, n_left: end - start, buffer: vec![0; PIECE_BYTES] });
        }
        Ok(response)
    }

    /// Reports whether the client's cached copy is current.
    fn is_known(&self, headers: &HeaderMap) -> bool {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        if let Some(tags) = text(header::IF_NONE_MATCH) {
            let strong = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
            return tags.split(',').map(strong).any(|tag| tag == self.tag || tag == "*");
        }
        let since =
            text(header::IF_MODIFIED_SINCE).and_then(|text| DateTimeParser::new().parse_timestamp(text).ok());
        since.is_some_and(|since| since >= self.modified)
    }

    fn part(&self, headers: &HeaderMap, modified: &str) -> ByteRange {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let Some(range) = text(header::RANGE) else { return ByteRange::Whole };
        // `If-Range`: a range of another version would be useless to the client.
        if text(header::IF_RANGE).is_some_and(|known| known != self.tag && known != modified) {
            return ByteRange::Whole;
        }
        part_of(range, self.n_bytes)
    }
}

/// Parses a single range; for several ranges the whole file is sent, which HTTP allows.
fn part_of(range: &str, n_bytes: u64) -> ByteRange {
    let Some((first, last)) = range.trim().strip_prefix("bytes=").and_then(|range| range.split_once('-'))
    else {
        return ByteRange::Whole;
    };
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let (start, end) = match (first.trim(), last.trim()) {
        ("", last) => match number(last) {
            Some(n_last) => (n_bytes.saturating_sub(n_last), n_bytes),
            None => return ByteRange::Whole,
        },
        (first, "") => match number(first) {
            Some(start) => (start, n_bytes),
            None => return ByteRange::Whole,
        },
        (first, last) => match (number(first), number(last)) {
            (Some(start), Some(last)) if start <= last => (start, last.saturating_add(1).min(n_bytes)),
            _ => return ByteRange::Whole,
        },
    };
    if start < end { ByteRange::Some(start, end) } else { ByteRange::Nothing }
}

/// Streams a byte range chunk by chunk, with back-pressure.
struct Pieces {
    file: tokio::fs::File,
    n_left: u64,
    buffer: Vec<u8>,
}

impl Stream for Pieces {
    type Item = io::Result<Bytes>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { file, n_left, buffer } = self.get_mut();
        let n_wanted = (*n_left).min(buffer.len() as u64) as usize;
        if n_wanted == 0 {
            return Poll::Ready(None);
        }
        let mut piece = ReadBuf::new(&mut buffer[..n_wanted]);
        match Pin::new(file).poll_read(cx, &mut piece) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Err(error)) => Poll::Ready(Some(Err(error))),
            // Shorter than announced: an error keeps the client from accepting a truncated file.
            Poll::Ready(Ok(())) if piece.filled().is_empty() => {
                *n_left = 0;
                Poll::Ready(Some(Err(io::ErrorKind::UnexpectedEof.into())))
            }
            Poll::Ready(Ok(())) => {
                *n_left -= piece.filled().len() as u64;
                Poll::Ready(Some(Ok(Bytes::copy_from_slice(piece.filled()))))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_they_are_meant() {
        for (range, expected) in [
            ("bytes=0-0", ByteRange::Some(0, 1)),
            ("bytes=2-", ByteRange::Some(2, 10)),
            ("bytes=-3", ByteRange::Some(7, 10)),
            ("bytes=-30", ByteRange::Some(0, 10)),
            ("bytes=5-99", ByteRange::Some(5, 10)),
            ("bytes=10-", ByteRange::Nothing),
            ("bytes=-0", ByteRange::Nothing),
            ("bytes=7-3", ByteRange::Whole),
            ("bytes=0-1,3-4", ByteRange::Whole),
            ("bytes=18446744073709551615-18446744073709551615", ByteRange::Nothing),
            ("bytes=x-", ByteRange::Whole),
            ("lines=0-1", ByteRange::Whole),
            ("", ByteRange::Whole),
        ] {
            assert_eq!(part_of(range, 10), expected, "{range}");
        }
        assert_eq!(part_of("bytes=0-", 0), ByteRange::Nothing);
    }

    #[test]
    fn symlinks_outside_the_folder_are_rejected() {
        let folder = stoker_testkit::TempFolder::new();
        let root = folder.file("repository");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("a.deb"), "x").unwrap();
        std::fs::write(folder.file("secret"), "x").unwrap();
        std::os::unix::fs::symlink(folder.file("secret"), root.join("link.deb")).unwrap();
        assert!(FileResponse::open_inside(&root, &root.join("a.deb")).is_some());
        assert!(FileResponse::open_inside(&root, &root.join("link.deb")).is_none());
        assert!(FileResponse::open_inside(&root, &root.join("../secret")).is_none());
        assert!(FileResponse::open_inside(&root, &root).is_none());
        assert!(FileResponse::open_inside(&root, &root.join("none")).is_none());
    }
}
