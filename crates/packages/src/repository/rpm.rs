//! Index of an RPM repository: `repodata` with the lists that `dnf` and `yum` read.

use std::fmt::Write as _;
use std::path::Path;

use pulldown_cmark_escape::escape_html;

use super::rpm_header::{Header, tags};
use super::{Repository, compressed, sum_of, sum_of_file, unfit};
use crate::error::FolderError;

const INTRO: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const COMMON: &str =
    "xmlns=\"http://linux.duke.edu/metadata/common\" xmlns:rpm=\"http://linux.duke.edu/metadata/rpm\"";
const FILELISTS: &str = "xmlns=\"http://linux.duke.edu/metadata/filelists\"";
const OTHER: &str = "xmlns=\"http://linux.duke.edu/metadata/other\"";
const REPO: &str = "xmlns=\"http://linux.duke.edu/metadata/repo\"";

/// Comparison bits of dependency flags.
const LESS: u64 = 1 << 1;
const GREATER: u64 = 1 << 2;
const EQUAL: u64 = 1 << 3;
/// Flags of dependencies of the scripts of a package (`RPMSENSE_PREREQ`, `_SCRIPT_PRE`, `_SCRIPT_POST`).
const SCRIPT_PREREQUISITE: u64 = 1 << 6 | 1 << 9 | 1 << 10;
/// Features of `rpm` itself (`RPMSENSE_RPMLIB`), which repository indexes omit.
const RPM_FEATURE: u64 = 1 << 24;
/// File type bits of a mode.
const TYPE_MASK: u64 = 0o170_000;
const FOLDER: u64 = 0o040_000;

/// Generates the index files, by path in the repository.
pub(super) fn index(
    folder: &Path,
    repository: &Repository,
    packages: &[&str],
) -> Result<Vec<(String, Vec<u8>)>, FolderError> {
    let (mut primary, mut filelists, mut other) = (String::new(), String::new(), String::new());
    for path in packages {
        let full = folder.join(path);
        let header = Header::read(&full).map_err(|source| unfit(&full, source))?;
        let sum = sum_of_file(&full)?;
        let package = Package { header: &header, sha256: &sum.sha256, n_bytes: sum.n_bytes };
        primary += &package.primary(repository.relative(path));
        filelists += &package.list_entry(&package.files(|_| true));
        other += &package.list_entry("");
    }
    let n_packages = packages.len();
    let list = |root: &str, attributes: &str, inner: &str| {
        format!("{INTRO}<{root} {attributes} packages=\"{n_packages}\">\n{inner}</{root}>\n")
    };
    let lists = [
        ("primary", list("metadata", COMMON, &primary)),
        ("filelists", list("filelists", FILELISTS, &filelists)),
        ("other", list("otherdata", OTHER, &other)),
    ];
    let mut files = Vec::new();
    let mut entries = String::new();
    for (name, text) in lists {
        let packed = compressed(&text)?;
        let (inner, outer) = (sum_of(text.as_bytes()), sum_of(&packed));
        _ = writeln!(
            entries,
            "<data type=\"{name}\">\n<checksum type=\"sha256\">{}</checksum>\n\
             <open-checksum type=\"sha256\">{}</open-checksum>\n<location href=\"repodata/{name}.xml.gz\"/>\n\
             <timestamp>0</timestamp>\n<size>{}</size>\n<open-size>{}</open-size>\n</data>",
            outer.sha256, inner.sha256, outer.n_bytes, inner.n_bytes
        );
        files.push((format!("repodata/{name}.xml.gz"), packed));
    }
    // Derived from the checksums of the lists, so that it changes exactly when the index does.
    let revision = &sum_of(entries.as_bytes()).sha256[..16];
    let root = format!("{INTRO}<repomd {REPO}>\n<revision>{revision}</revision>\n{entries}</repomd>\n");
    files.push(("repodata/repomd.xml".to_owned(), root.into_bytes()));
    Ok(files)
}

struct Package<'h> {
    header: &'h Header,
    sha256: &'h str,
    n_bytes: u64,
}

impl Package<'_> {
    fn version(&self) -> String {
        let header = self.header;
        format!(
            "<version epoch=\"{}\" ver=\"{}\" rel=\"{}\"/>",
            header.number(tags::EPOCH),
            escaped(header.text(tags::VERSION)),
            escaped(header.text(tags::RELEASE))
        )
    }

    fn primary(&self, location: &str) -> String {
        let header = self.header;
        let element = |name: &str, tag: u32| format!("<{name}>{}</{name}>\n", escaped(header.text(tag)));
        let mut text = "<package type=\"rpm\">\n".to_owned();
        text += &element("name", tags::NAME);
        text += &element("arch", tags::ARCH);
        text += &self.version();
        _ = writeln!(text, "\n<checksum type=\"sha256\" pkgid=\"YES\">{}</checksum>", self.sha256);
        text += &element("summary", tags::SUMMARY);
        text += &element("description", tags::DESCRIPTION);
        text += &element("packager", tags::PACKAGER);
        text += &element("url", tags::URL);
        let build_time = header.number(tags::BUILD_TIME);
        // The build time of the package instead of the file's modification time keeps packing reproducible.
        _ = writeln!(text, "<time file=\"{build_time}\" build=\"{build_time}\"/>");
        _ = writeln!(
            text,
            "<size package=\"{}\" installed=\"{}\" archive=\"{}\"/>\n<location href=\"{}\"/>\n<format>",
            self.n_bytes,
            header.number(tags::SIZE),
            header.number(tags::ARCHIVE_SIZE),
            escaped(&percent_encode(location))
        );
        text += &element("rpm:license", tags::LICENSE);
        text += &element("rpm:vendor", tags::VENDOR);
        text += &element("rpm:group", tags::GROUP);
        text += &element("rpm:buildhost", tags::BUILD_HOST);
        text += &element("rpm:sourcerpm", tags::SOURCE_RPM);
        _ = writeln!(text, "<rpm:header-range start=\"{}\" end=\"{}\"/>", header.range.0, header.range.1);
        text += &self.relations("provides", tags::PROVIDES);
        text += &self.relations("requires", tags::REQUIRES);
        text += &self.relations("conflicts", tags::CONFLICTS);
        text += &self.relations("obsoletes", tags::OBSOLETES);
        // Files that other packages commonly require by path.
        text += &self.files(|path| {
            path.starts_with("/etc/")
                || path.contains("/bin/")
                || path.contains("/sbin/")
                || path == "/usr/lib/sendmail"
        });
        text + "</format>\n</package>\n"
    }

    /// Returns the entry of the `filelists` or `other` list.
    fn list_entry(&self, inner: &str) -> String {
        let header = self.header;
        format!(
            "<package pkgid=\"{}\" name=\"{}\" arch=\"{}\">\n{}\n{inner}</package>\n",
            self.sha256,
            escaped(header.text(tags::NAME)),
            escaped(header.text(tags::ARCH)),
            self.version()
        )
    }

    fn relations(&self, kind: &str, [names, flags, versions]: [u32; 3]) -> String {
        let header = self.header;
        let (flags, versions) = (header.numbers(flags), header.texts(versions));
        let mut entries = Vec::new();
        for (idx, name) in header.texts(names).iter().enumerate() {
            let flags = flags.get(idx).copied().unwrap_or_default();
            if flags & RPM_FEATURE != 0 || name.starts_with("rpmlib(") {
                continue;
            }
            let mut entry = format!("<rpm:entry name=\"{}\"", escaped(name));
            let version = versions.get(idx).map(String::as_str).filter(|version| !version.is_empty());
            if let (Some(comparison), Some(version)) = (comparison(flags), version) {
                let (epoch, version, release) = split_version(version);
                _ = write!(
                    entry,
                    " flags=\"{comparison}\" epoch=\"{}\" ver=\"{}\"",
                    escaped(epoch),
                    escaped(version)
                );
                if let Some(release) = release {
                    _ = write!(entry, " rel=\"{}\"", escaped(release));
                }
            }
            if kind == "requires" && flags & SCRIPT_PREREQUISITE != 0 {
                entry += " pre=\"1\"";
            }
            entry += "/>\n";
            if !entries.contains(&entry) {
                entries.push(entry);
            }
        }
        if entries.is_empty() {
            return String::new();
        }
        format!("<rpm:{kind}>\n{}</rpm:{kind}>\n", entries.concat())
    }

    fn files(&self, is_included: impl Fn(&str) -> bool) -> String {
        let header = self.header;
        let folders = header.texts(tags::DIR_NAMES);
        let (folder_indexes, modes) = (header.numbers(tags::DIR_INDEXES), header.numbers(tags::FILE_MODES));
        let mut text = String::new();
        for (idx, name) in header.texts(tags::BASE_NAMES).iter().enumerate() {
            let folder = folder_indexes.get(idx).and_then(|folder_idx| folders.get(*folder_idx as usize));
            let path = format!("{}{name}", folder.map_or("", String::as_str));
            if !is_included(&path) {
                continue;
            }
            let is_folder = modes.get(idx).is_some_and(|mode| mode & TYPE_MASK == FOLDER);
            let attribute = if is_folder { " type=\"dir\"" } else { "" };
            _ = writeln!(text, "<file{attribute}>{}</file>", escaped(&path));
        }
        text
    }
}

fn comparison(flags: u64) -> Option<&'static str> {
    match flags & (LESS | GREATER | EQUAL) {
        LESS => Some("LT"),
        GREATER => Some("GT"),
        EQUAL => Some("EQ"),
        bits if bits == LESS | EQUAL => Some("LE"),
        bits if bits == GREATER | EQUAL => Some("GE"),
        _ => None,
    }
}

/// Splits `[epoch:]version[-release]`.
fn split_version(text: &str) -> (&str, &str, Option<&str>) {
    let (epoch, rest) = text.split_once(':').unwrap_or(("0", text));
    match rest.rsplit_once('-') {
        Some((version, release)) => (epoch, version, Some(release)),
        None => (epoch, rest, None),
    }
}

fn escaped(text: &str) -> String {
    // XML 1.0 cannot represent other control characters.
    let representable: String =
        text.chars().filter(|letter| !letter.is_control() || matches!(letter, '\n' | '\t')).collect();
    let mut xml = String::with_capacity(text.len());
    // Writing to a `String` cannot fail.
    _ = escape_html(&mut xml, &representable);
    xml
}

/// Percent-encodes a path for a URL.
fn percent_encode(path: &str) -> String {
    let mut percent_encode = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' | b'+' => {
                percent_encode.push(byte.into());
            }
            byte => _ = write!(percent_encode, "%{byte:02X}"),
        }
    }
    percent_encode
}
