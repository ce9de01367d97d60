//! The index of a flat repository for `apt`: `Packages`, the same compressed, and `Release`.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::read::GzDecoder;
use stoker_model::NewPlugin;
use stoker_registry::package::line_of;

use super::{Repository, compressed, sum_of, sum_of_file, unfit};
use crate::error::FolderError;
use crate::tar;

const MAGIC: &[u8] = b"!<arch>\n";
const MEMBER_HEADER_BYTES: usize = 60;
/// Before the description only a version and comments may come.
const MEMBERS_MAX: usize = 16;
/// Of a description, and of the archive that it is in.
const CONTROL_BYTES_MAX: u64 = 1 << 20;
const CONTROL_ARCHIVE_BYTES_MAX: u64 = 16 << 20;
/// What `apt` cannot do without.
const REQUIRED: [&str; 3] = ["Package", "Version", "Architecture"];
/// What the index says of a package, and not the package itself.
const OWN: [&str; 6] = ["Filename", "Size", "MD5sum", "SHA1", "SHA256", "SHA512"];
/// `apt` asks for a date, and the same files give the same bytes. It compares dates of one repository only.
const DATE: &str = "Sat, 01 Jan 2000 00:00:00 UTC";

/// Files of the index, by their paths in the repository.
pub(super) fn index(
    folder: &Path,
    repository: &Repository,
    packages: &[&str],
    plugin: &NewPlugin,
) -> Result<Vec<(String, Vec<u8>)>, FolderError> {
    let mut text = String::new();
    let mut architectures = std::collections::BTreeSet::new();
    for path in packages {
        let full = folder.join(path);
        let control = Control::read(&full).map_err(|reason| unfit(&full, reason))?;
        let sum = sum_of_file(&full)?;
        architectures.insert(control.field("Architecture").to_owned());
        text.push_str(&control.text);
        let inside = repository.inside(path);
        _ = writeln!(text, "Filename: ./{inside}\nSize: {}\nSHA256: {}\n", sum.n_bytes, sum.sha256);
    }
    let packed = compressed(&text)?;
    let mut release = format!(
        "Origin: {name}\nLabel: {name}\nVersion: {line}\nDate: {DATE}\nArchitectures: {architectures}\n\
         Description: Packages of the plugin {name} {version}\nSHA256:\n",
        name = plugin.name,
        line = line_of(plugin).unwrap_or_else(|| plugin.version.clone()),
        version = plugin.version,
        architectures = architectures.into_iter().collect::<Vec<_>>().join(" "),
    );
    for (name, bytes) in [("Packages", text.as_bytes()), ("Packages.gz", &packed)] {
        let sum = sum_of(bytes);
        _ = writeln!(release, " {} {} {name}", sum.sha256, sum.n_bytes);
    }
    Ok(vec![
        ("Packages".to_owned(), text.into_bytes()),
        ("Packages.gz".to_owned(), packed),
        ("Release".to_owned(), release.into_bytes()),
    ])
}

/// What a Debian package says about itself.
#[derive(Debug)]
pub(super) struct Control {
    /// Fields with a line break behind each.
    text: String,
}

impl Control {
    /// Reads the description out of a package, or says why there is none.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let file = File::open(path).map_err(|error| format!("cannot be read: {error}"))?;
        let (compression, archive) = control_archive(BufReader::new(file))?;
        let archive: Box<dyn Read> = match compression.as_str() {
            "" => Box::new(archive),
            ".gz" => Box::new(GzDecoder::new(archive)),
            ".xz" => Box::new(lzma_rust2::XzReader::new(archive, true)),
            ".zst" => Box::new(
                ruzstd::decoding::StreamingDecoder::new(archive)
                    .map_err(|error| format!("its description cannot be unpacked: {error}"))?,
            ),
            other => return Err(format!("its description is packed in a way that is not known: `{other}`")),
        };
        Self::parse(&description(archive.take(CONTROL_ARCHIVE_BYTES_MAX))?)
    }

    fn parse(text: &str) -> Result<Self, String> {
        // What stands behind an empty line would be another package in the index.
        let lines = text.lines().skip_while(|line| line.trim().is_empty());
        let lines: Vec<&str> = lines.take_while(|line| !line.trim().is_empty()).collect();
        let mut kept = String::new();
        let mut is_kept = true;
        for line in lines {
            if !line.starts_with([' ', '\t']) {
                let (name, _) = line.split_once(':').ok_or("its description is not `Field: value`")?;
                is_kept = !OWN.iter().any(|own| own.eq_ignore_ascii_case(name));
            }
            if is_kept {
                kept.extend([line, "\n"]);
            }
        }
        let control = Self { text: kept };
        let missing: Vec<&str> = REQUIRED.into_iter().filter(|name| control.field(name).is_empty()).collect();
        if missing.is_empty() {
            return Ok(control);
        }
        Err(format!("its description has no {}", missing.join(", no ")))
    }

    fn field(&self, name: &str) -> &str {
        let of_line = |line: &'_ str| -> Option<usize> {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| line.len() - value.len())
        };
        let found = self.text.lines().find_map(|line| Some(line[of_line(line)?..].trim()));
        found.unwrap_or_default()
    }
}

/// The member `control.tar` of an `ar` archive, and how it is compressed.
fn control_archive<R: Read + Seek>(mut source: R) -> Result<(String, io::Take<R>), String> {
    let no_package = |_| "it is no Debian package: it ends too early".to_owned();
    let mut magic = [0; MAGIC.len()];
    source.read_exact(&mut magic).map_err(no_package)?;
    if magic != *MAGIC {
        return Err("it is no Debian package".to_owned());
    }
    for _ in 0..MEMBERS_MAX {
        let mut header = [0; MEMBER_HEADER_BYTES];
        source.read_exact(&mut header).map_err(no_package)?;
        let text = |range: std::ops::Range<usize>| String::from_utf8_lossy(&header[range]).trim().to_owned();
        let name = text(0..16);
        let n_bytes: u32 =
            text(48..58).parse().map_err(|_| "it is no Debian package: a size is no number".to_owned())?;
        if let Some(compression) = name.trim_end_matches('/').strip_prefix("control.tar") {
            return Ok((compression.to_owned(), source.take(n_bytes.into())));
        }
        let n_skipped = i64::from(n_bytes) + i64::from(n_bytes % 2);
        source.seek(SeekFrom::Current(n_skipped)).map_err(no_package)?;
    }
    Err("it is no Debian package: it has no `control.tar`".to_owned())
}

fn description(archive: impl Read) -> Result<String, String> {
    let damaged = |error: crate::ArchiveError| format!("its description cannot be unpacked: {error}");
    let mut members = tar::Reader::new(archive);
    while let Some(entry) = members.next().map_err(damaged)? {
        if entry.path.trim_start_matches("./") != "control" {
            continue;
        }
        if entry.n_bytes > CONTROL_BYTES_MAX {
            return Err(format!("its description has more than {CONTROL_BYTES_MAX} bytes"));
        }
        let mut bytes = Vec::new();
        members.content(&mut bytes).map_err(damaged)?;
        return String::from_utf8(bytes).map_err(|_| "its description is no UTF-8 text".to_owned());
    }
    Err("it has no description: `control` is missing".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_one_paragraph_with_the_fields_that_count() {
        let control = Control::parse(
            "\nPackage: a\nVersion: 1\nArchitecture: all\nFilename: x\nSize: 7\n more\nDescription: b\n .\n c\n\nPackage: evil\n",
        );
        let control = control.unwrap();
        assert_eq!(
            control.text, "Package: a\nVersion: 1\nArchitecture: all\nDescription: b\n .\n c\n",
            "what the index says itself is left out"
        );
        assert_eq!((control.field("version"), control.field("Nothing")), ("1", ""));
        let wrong = Control::parse("Package: a\n").unwrap_err();
        assert_eq!(wrong, "its description has no Version, no Architecture");
        assert!(Control::parse("nonsense\n").is_err());
    }

    #[test]
    fn what_is_no_package_is_told() {
        let folder = stoker_testkit::Folder::new();
        let member = |name: &str, size: &str| {
            format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, "100644")
        };
        for (bytes, expected) in [
            (String::new(), "ends too early"),
            ("PK\x03\x04 something".to_owned(), "no Debian package"),
            ("!<arch>\n".to_owned(), "ends too early"),
            (format!("!<arch>\n{}", member("debian-binary", "x")), "a size is no number"),
            (format!("!<arch>\n{}", member("control.tar.lz4", "0")), "not known: `.lz4`"),
            (format!("!<arch>\n{}", member("control.tar.xz", "0")), "cannot be unpacked"),
            (format!("!<arch>\n{}", member("control.tar.zst", "0")), "cannot be unpacked"),
            (format!("!<arch>\n{}", member("control.tar.gz", "9999")), "cannot be unpacked"),
            (format!("!<arch>\n{}", member("data.tar", "0").repeat(20)), "has no `control.tar`"),
        ] {
            std::fs::write(folder.file("a.deb"), &bytes).unwrap();
            let reason = Control::read(&folder.file("a.deb")).unwrap_err();
            assert!(reason.contains(expected), "{bytes:?}: {reason}");
        }
    }
}
