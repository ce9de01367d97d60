//! Index of a flat APT repository: `Packages`, `Packages.gz` and `Release`.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::read::GzDecoder;
use stoker_model::NewPlugin;
use stoker_registry::package::version_line;

use super::{PackageFileError, Repository, compressed, invalid, sum_of, sum_of_file, unfit};
use crate::error::FolderError;
use crate::members::Archive;

const MAGIC: &[u8] = b"!<arch>\n";
const MEMBER_HEADER_BYTES: usize = 60;
/// Maximum number of members before `control.tar`; normally there is only `debian-binary`.
const MEMBERS_MAX: usize = 16;
/// Maximum sizes of the control file and of the archive that contains it.
const CONTROL_BYTES_MAX: u64 = 1 << 20;
const CONTROL_ARCHIVE_BYTES_MAX: u64 = 16 << 20;
/// Fields that APT requires.
const REQUIRED: [&str; 3] = ["Package", "Version", "Architecture"];
/// Fields that the index sets itself; values in the package are dropped.
const INDEX_FIELDS: [&str; 6] = ["Filename", "Size", "MD5sum", "SHA1", "SHA256", "SHA512"];
/// `Release` requires a date. It is constant so that packing is reproducible; APT compares dates only within
/// one repository.
const DATE: &str = "Sat, 01 Jan 2000 00:00:00 UTC";

/// Generates the index files, by path in the repository.
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
        let control = Control::read(&full).map_err(|source| unfit(&full, source))?;
        let sum = sum_of_file(&full)?;
        architectures.insert(control.field("Architecture").to_owned());
        text.push_str(&control.text);
        let inside = repository.relative(path);
        _ = writeln!(text, "Filename: ./{inside}\nSize: {}\nSHA256: {}\n", sum.n_bytes, sum.sha256);
    }
    let packed = compressed(&text)?;
    let mut release = format!(
        "Origin: {name}\nLabel: {name}\nVersion: {line}\nDate: {DATE}\nArchitectures: {architectures}\n\
         Description: Packages of the plugin {name} {version}\nSHA256:\n",
        name = plugin.name,
        line = version_line(plugin).unwrap_or_else(|| plugin.version.clone()),
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

/// Control file of a Debian package.
#[derive(Debug)]
pub(super) struct Control {
    /// Control fields; every line ends with a line break.
    text: String,
}

impl Control {
    /// Reads the control file of a package.
    pub(super) fn read(path: &Path) -> Result<Self, PackageFileError> {
        let file = File::open(path).map_err(PackageFileError::Read)?;
        let (compression, archive) = control_archive(BufReader::new(file))?;
        let archive: Box<dyn Read> = match compression.as_str() {
            "" => Box::new(archive),
            ".gz" => Box::new(GzDecoder::new(archive)),
            ".xz" => Box::new(lzma_rust2::XzReader::new(archive, true)),
            ".zst" => Box::new(
                ruzstd::decoding::StreamingDecoder::new(archive)
                    .map_err(|error| PackageFileError::ControlArchive(error.into()))?,
            ),
            other => {
                let reason = format!("unsupported compression of its control archive: `{other}`");
                return Err(PackageFileError::Invalid(reason));
            }
        };
        Self::parse(&control_text(archive.take(CONTROL_ARCHIVE_BYTES_MAX))?)
    }

    fn parse(text: &str) -> Result<Self, PackageFileError> {
        // Only the first paragraph is read: further paragraphs would become other packages in the index.
        let lines = text.lines().skip_while(|line| line.trim().is_empty());
        let lines: Vec<&str> = lines.take_while(|line| !line.trim().is_empty()).collect();
        let mut fields = String::new();
        let mut is_included = true;
        for line in lines {
            if !line.starts_with([' ', '\t']) {
                let (name, _) =
                    line.split_once(':').ok_or_else(|| invalid("control file: expected `Field: value`"))?;
                is_included = !INDEX_FIELDS.iter().any(|field| field.eq_ignore_ascii_case(name));
            }
            if is_included {
                fields.extend([line, "\n"]);
            }
        }
        let control = Self { text: fields };
        let missing: Vec<&str> = REQUIRED.into_iter().filter(|name| control.field(name).is_empty()).collect();
        if missing.is_empty() {
            return Ok(control);
        }
        Err(PackageFileError::Invalid(format!("its control file lacks {}", missing.join(", "))))
    }

    fn field(&self, name: &str) -> &str {
        let value_offset = |line: &'_ str| -> Option<usize> {
            let (field, value) = line.split_once(':')?;
            field.eq_ignore_ascii_case(name).then(|| line.len() - value.len())
        };
        let value = self.text.lines().find_map(|line| Some(line[value_offset(line)?..].trim()));
        value.unwrap_or_default()
    }
}

/// Finds the member `control.tar` of an `ar` archive; returns its compression suffix and its content.
fn control_archive<R: Read + Seek>(mut source: R) -> Result<(String, io::Take<R>), PackageFileError> {
    let truncated = |_| invalid("it is not a Debian package: unexpected end of file");
    let mut magic = [0; MAGIC.len()];
    source.read_exact(&mut magic).map_err(truncated)?;
    if magic != *MAGIC {
        return Err(invalid("it is not a Debian package"));
    }
    for _ in 0..MEMBERS_MAX {
        let mut header = [0; MEMBER_HEADER_BYTES];
        source.read_exact(&mut header).map_err(truncated)?;
        let text = |range: std::ops::Range<usize>| String::from_utf8_lossy(&header[range]).trim().to_owned();
        let name = text(0..16);
        let n_bytes: u32 =
            text(48..58).parse().map_err(|_| invalid("it is not a Debian package: invalid member size"))?;
        if let Some(compression) = name.trim_end_matches('/').strip_prefix("control.tar") {
            return Ok((compression.to_owned(), source.take(n_bytes.into())));
        }
        let n_skipped = i64::from(n_bytes) + i64::from(n_bytes % 2);
        source.seek(SeekFrom::Current(n_skipped)).map_err(truncated)?;
    }
    Err(invalid("it is not a Debian package: it has no `control.tar`"))
}

fn control_text(archive: impl Read) -> Result<String, PackageFileError> {
    let damaged = |error: crate::ArchiveError| PackageFileError::ControlArchive(error.into());
    let mut archive = Archive::new(archive);
    let mut members = archive.members().map_err(damaged)?;
    while let Some((entry, content)) = members.next().map_err(damaged)? {
        if entry.path.trim_start_matches("./") != "control" {
            continue;
        }
        if entry.n_bytes > CONTROL_BYTES_MAX {
            let reason = format!("its control file exceeds {CONTROL_BYTES_MAX} bytes");
            return Err(PackageFileError::Invalid(reason));
        }
        let mut bytes = Vec::new();
        content.copy_to(&mut bytes).map_err(damaged)?;
        return String::from_utf8(bytes).map_err(|_| invalid("its control file is not valid UTF-8"));
    }
    Err(invalid("its control archive has no `control` file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_is_reduced_to_one_paragraph_without_index_fields() {
        let control = Control::parse(
            "\nPackage: a\nVersion: 1\nArchitecture: all\nFilename: x\nSize: 7\n more\nDescription: b\n .\n c\n\nPackage: evil\n",
        );
        let control = control.unwrap();
        assert_eq!(
            control.text, "Package: a\nVersion: 1\nArchitecture: all\nDescription: b\n .\n c\n",
            "fields of the index are dropped"
        );
        assert_eq!((control.field("version"), control.field("Nothing")), ("1", ""));
        let error = Control::parse("Package: a\n").unwrap_err();
        assert_eq!(error.to_string(), "its control file lacks Version, Architecture");
        assert!(Control::parse("nonsense\n").is_err());
    }

    #[test]
    fn invalid_packages_are_reported() {
        let folder = stoker_testkit::TempFolder::new();
        let member = |name: &str, size: &str| {
            format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, "100644")
        };
        for (bytes, expected) in [
            (String::new(), "unexpected end of file"),
            ("PK\x03\x04 something".to_owned(), "not a Debian package"),
            ("!<arch>\n".to_owned(), "unexpected end of file"),
            (format!("!<arch>\n{}", member("debian-binary", "x")), "invalid member size"),
            (format!("!<arch>\n{}", member("control.tar.lz4", "0")), "control archive: `.lz4`"),
            (format!("!<arch>\n{}", member("control.tar.xz", "0")), "cannot unpack"),
            (format!("!<arch>\n{}", member("control.tar.zst", "0")), "cannot unpack"),
            (format!("!<arch>\n{}", member("control.tar.gz", "9999")), "cannot unpack"),
            (format!("!<arch>\n{}", member("data.tar", "0").repeat(20)), "has no `control.tar`"),
        ] {
            std::fs::write(folder.file("a.deb"), &bytes).unwrap();
            let reason = Control::read(&folder.file("a.deb")).unwrap_err().to_string();
            assert!(reason.contains(expected), "{bytes:?}: {reason}");
        }
    }
}
