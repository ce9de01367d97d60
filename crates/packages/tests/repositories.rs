//! Repository indexes in plugins, generated from packages built with the usual tools.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::Command;

use flate2::read::GzDecoder;
use proptest::prelude::*;
use stoker_packages::{ArchiveLimits, UnpackedPackage, check_folder, index_digest, pack_plugin, unpack};
use stoker_registry::package::{PackageCheckOptions, PackageVersion, SkeletonOptions, codes, skeleton};
use stoker_registry::sources::RepositoryKind;
use stoker_testkit::TempFolder;

const DEBIAN: &str = "repositories/ubuntu";
const RPM: &str = "repositories/centos";

/// Creates a plugin with a Debian and an RPM repository.
fn source() -> TempFolder {
    let folder = TempFolder::new();
    for file in
        skeleton(SkeletonOptions { name: "gridnet", version: PackageVersion::V5, has_wizard: false }).unwrap()
    {
        let path = folder.file(&file.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &file.text).unwrap();
    }
    let metadata = fs::read_to_string(folder.file("metadata.yaml")).unwrap();
    let more = "- {os: centos, version: mitaka-9.0, mode: [ha], deployment_scripts_path: deployment_scripts/, \
                repository_path: ./repositories//centos/}\n";
    fs::write(folder.file("metadata.yaml"), format!("{}\n{more}", metadata.trim_end())).unwrap();
    fs::create_dir_all(folder.file(RPM)).unwrap();
    folder
}

fn packed(folder: &Path) -> Vec<u8> {
    let checked = check_folder(folder, PackageCheckOptions::default()).unwrap();
    let package = checked.result.package.unwrap_or_else(|| panic!("{:?}", checked.result.problems));
    let mut bytes = Vec::new();
    pack_plugin(folder, &package, &mut bytes).unwrap();
    bytes
}

/// Packs a directory and unpacks it as a server would.
fn unpacked(folder: &Path, root: &TempFolder) -> UnpackedPackage {
    unpack(&packed(folder)[..], root.path(), &ArchiveLimits::default()).unwrap()
}

/// Builds a Debian package. Returns false if `dpkg-deb` is missing or lacks the compression.
fn debian_package(target: &Path, name: &str, compression: &str) -> bool {
    let tree = TempFolder::new();
    fs::create_dir(tree.file("DEBIAN")).unwrap();
    let control = format!(
        "Package: {name}\nVersion: 1:2.0-1\nArchitecture: all\nMaintainer: A <a@example.com>\n\
         Description: a package\n with a second line\n"
    );
    fs::write(tree.file("DEBIAN/control"), control).unwrap();
    let built = Command::new("dpkg-deb")
        .arg(format!("-Z{compression}"))
        .args(["--uniform-compression", "-b"])
        .args([tree.path(), target])
        .output();
    match built {
        Ok(output) if output.status.success() => true,
        Ok(output) => {
            stoker_testkit::record_skip(&format!(
                "dpkg-deb: cannot build a package with {compression}: {}",
                String::from_utf8_lossy(&output.stderr)
            ));
            false
        }
        Err(_) => {
            stoker_testkit::record_missing_tool(
                "dpkg-deb: `dpkg-deb` is not installed; `apt-get install dpkg`",
            );
            false
        }
    }
}

/// Creates a minimal RPM package with the tags that an index needs.
fn rpm_package(name: &str) -> Vec<u8> {
    let mut data = Vec::new();
    let mut entries: Vec<(u32, u32, u32, u32)> = Vec::new();
    let mut texts = |tag: u32, kind: u32, texts: &[&str], data: &mut Vec<u8>| {
        entries.push((tag, kind, data.len() as u32, texts.len() as u32));
        for text in texts {
            data.extend(text.as_bytes());
            data.push(0);
        }
    };
    texts(1000, 6, &[name], &mut data);
    texts(1001, 6, &["2.0"], &mut data);
    texts(1002, 6, &["1"], &mut data);
    texts(1004, 9, &["a <small> package & more"], &mut data);
    texts(1022, 6, &["noarch"], &mut data);
    texts(1047, 8, &[name], &mut data);
    texts(1113, 8, &["1:2.0-1"], &mut data);
    texts(1049, 8, &["rpmlib(PayloadIsXz)", "/bin/sh", "libc"], &mut data);
    texts(1050, 8, &["5.2-1", "", "2.17"], &mut data);
    texts(1117, 8, &["tool", "data"], &mut data);
    texts(1118, 8, &["/usr/bin/", "/usr/share/"], &mut data);
    let mut numbers = |tag: u32, values: &[u32], data: &mut Vec<u8>| {
        data.resize(data.len().next_multiple_of(4), 0);
        entries.push((tag, 4, data.len() as u32, values.len() as u32));
        data.extend(values.iter().flat_map(|value| value.to_be_bytes()));
    };
    numbers(1003, &[1], &mut data);
    numbers(1006, &[1_700_000_000], &mut data);
    numbers(1048, &[1 << 24 | 8 | 2, 1 << 9, 4 | 8], &mut data);
    numbers(1112, &[8], &mut data);
    numbers(1116, &[0, 1], &mut data);
    let table = |entries: &[(u32, u32, u32, u32)], data: &[u8]| {
        let mut bytes = vec![0x8e, 0xad, 0xe8, 1, 0, 0, 0, 0];
        bytes.extend((entries.len() as u32).to_be_bytes());
        bytes.extend((data.len() as u32).to_be_bytes());
        for (tag, kind, at, count) in entries {
            bytes.extend([tag, kind, at, count].into_iter().flat_map(|value| value.to_be_bytes()));
        }
        bytes.extend(data);
        bytes
    };
    let mut bytes = vec![0xed, 0xab, 0xee, 0xdb];
    bytes.resize(96, 0);
    // The signature table is padded to a multiple of eight bytes.
    bytes.extend(table(&[(1000, 6, 0, 1)], b"abc\0"));
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes.extend(table(&entries, &data));
    bytes.extend(b"payload");
    bytes
}

fn text_of(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn unzipped(path: &Path) -> String {
    let mut text = String::new();
    GzDecoder::new(fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text
}

#[test]
fn debian_packages_are_indexed() {
    let (folder, root) = (source(), TempFolder::new());
    let deep = folder.file(DEBIAN).join("deep");
    fs::create_dir(&deep).unwrap();
    let built: Vec<&str> = ["gzip", "none", "xz", "zstd"]
        .into_iter()
        .filter(|compression| {
            let folder_path = if *compression == "xz" { deep.clone() } else { folder.file(DEBIAN) };
            debian_package(&folder_path.join(format!("{compression}.deb")), compression, compression)
        })
        .collect();
    if built.is_empty() {
        return;
    }
    // An index left by an earlier build is regenerated.
    fs::write(folder.file(DEBIAN).join("Packages"), "stale").unwrap();
    let package = unpacked(folder.path(), &root);
    let repository = package.folder().join(DEBIAN);
    let packages = text_of(&repository.join("Packages"));
    for compression in &built {
        let path =
            if *compression == "xz" { "./deep/xz.deb".to_owned() } else { format!("./{compression}.deb") };
        let stanza =
            packages.split("\n\n").find(|stanza| stanza.contains(&format!("Package: {compression}\n")));
        let stanza = stanza.unwrap_or_else(|| panic!("{compression} is not in {packages}"));
        assert!(stanza.contains("Version: 1:2.0-1\n"), "{stanza}");
        assert!(stanza.contains("Description: a package\n with a second line\n"), "{stanza}");
        assert!(stanza.contains(&format!("Filename: {path}\n")), "{stanza}");
        let size = fs::metadata(repository.join(&path)).unwrap().len();
        assert!(stanza.contains(&format!("Size: {size}\n")), "{stanza}");
    }
    assert_eq!(unzipped(&repository.join("Packages.gz")), packages);
    let release = text_of(&repository.join("Release"));
    assert!(release.contains("Label: gridnet\nVersion: 1.0\n"), "{release}");
    assert!(release.contains(&format!(" {} Packages\n", packages.len())), "{release}");
    assert!(index_digest(RepositoryKind::Debian, &repository).is_some());
    assert_eq!(
        text_of(&folder.file(DEBIAN).join("Packages")),
        "stale",
        "the author's directory is not changed"
    );
    assert_eq!(packed(folder.path()), packed(folder.path()), "packing is reproducible");
}

#[test]
fn rpm_packages_are_indexed() {
    let (folder, root) = (source(), TempFolder::new());
    fs::write(folder.file(RPM).join("a b.rpm"), rpm_package("one")).unwrap();
    fs::write(folder.file(RPM).join("two.rpm"), rpm_package("two")).unwrap();
    let package = unpacked(folder.path(), &root);
    let data = package.folder().join(RPM).join("repodata");
    let primary = unzipped(&data.join("primary.xml.gz"));
    assert!(
        primary.contains("xmlns:rpm=\"http://linux.duke.edu/metadata/rpm\" packages=\"2\">"),
        "{primary}"
    );
    for expected in [
        "<name>one</name>\n<arch>noarch</arch>\n<version epoch=\"1\" ver=\"2.0\" rel=\"1\"/>",
        "<summary>a &lt;small&gt; package &amp; more</summary>",
        "<location href=\"a%20b.rpm\"/>",
        "<rpm:provides>\n<rpm:entry name=\"one\" flags=\"EQ\" epoch=\"1\" ver=\"2.0\" rel=\"1\"/>\n</rpm:provides>",
        "<rpm:requires>\n<rpm:entry name=\"/bin/sh\" pre=\"1\"/>\n\
         <rpm:entry name=\"libc\" flags=\"GE\" epoch=\"0\" ver=\"2.17\"/>\n</rpm:requires>",
        "<file>/usr/bin/tool</file>",
        "<time file=\"1700000000\" build=\"1700000000\"/>",
    ] {
        assert!(primary.contains(expected), "{expected}\n{primary}");
    }
    assert!(!primary.contains("rpmlib") && !primary.contains("/usr/share"), "{primary}");
    // Offset of the header: after the lead and the padded signature table.
    let start = 96 + 16 + 24;
    assert!(primary.contains(&format!("<rpm:header-range start=\"{start}\" end=")), "{primary}");
    assert!(unzipped(&data.join("filelists.xml.gz")).contains("<file>/usr/share/data</file>"));
    assert!(unzipped(&data.join("other.xml.gz")).contains("name=\"two\""));
    let root_file = text_of(&data.join("repomd.xml"));
    for list in ["primary", "filelists", "other"] {
        let size = fs::metadata(data.join(format!("{list}.xml.gz"))).unwrap().len();
        let expected = format!(
            "<location href=\"repodata/{list}.xml.gz\"/>\n<timestamp>0</timestamp>\n<size>{size}</size>"
        );
        assert!(root_file.contains(&expected), "{root_file}");
    }
}

#[test]
fn signed_index_is_kept() {
    let (folder, root) = (source(), TempFolder::new());
    fs::write(folder.file(RPM).join("one.rpm"), rpm_package("one")).unwrap();
    fs::create_dir(folder.file(RPM).join("repodata")).unwrap();
    fs::write(folder.file(RPM).join("repodata/repomd.xml"), "mine").unwrap();
    fs::write(folder.file(RPM).join("repodata/repomd.xml.asc"), "signed").unwrap();
    let package = unpacked(folder.path(), &root);
    assert_eq!(text_of(&package.folder().join(RPM).join("repodata/repomd.xml")), "mine");
    assert!(!package.folder().join(RPM).join("repodata/primary.xml.gz").exists());
}

#[test]
fn empty_repository_has_no_index() {
    let (folder, root) = (source(), TempFolder::new());
    fs::write(folder.file(DEBIAN).join("notes.txt"), "x").unwrap();
    let package = unpacked(folder.path(), &root);
    assert!(!package.folder().join(DEBIAN).join("Packages").exists());
    assert_eq!(index_digest(RepositoryKind::Debian, &package.folder().join(DEBIAN)), None);
}

#[test]
fn invalid_packages_are_reported() {
    let folder = source();
    fs::write(folder.file(DEBIAN).join("a.deb"), "x").unwrap();
    fs::write(folder.file(DEBIAN).join("b.deb"), "!<arch>\n").unwrap();
    fs::write(folder.file(RPM).join("c.rpm"), "x").unwrap();
    // These files are not packages of their repository, so they are not read.
    fs::write(folder.file(RPM).join("d.deb"), "x").unwrap();
    fs::write(folder.file("e.rpm"), "x").unwrap();
    let checked = check_folder(folder.path(), PackageCheckOptions::default()).unwrap().result;
    assert!(checked.package.is_none());
    let reported: Vec<(&str, &str)> = checked
        .problems
        .iter()
        .map(|problem| (problem.location.file.as_deref().unwrap(), &*problem.code))
        .collect();
    let expected = ["repositories/centos/c.rpm", "repositories/ubuntu/a.deb", "repositories/ubuntu/b.deb"];
    assert_eq!(reported, expected.map(|file| (file, codes::PACKAGE_UNREADABLE)));
}

proptest! {
    /// Corrupt packages are reported or harmless, in bounded time.
    #[test]
    fn corrupt_packages_do_not_panic(at in 0usize..600, value in any::<u8>(), length in 0usize..700) {
        let folder = source();
        let mut bytes = rpm_package("one");
        if let Some(byte) = bytes.get_mut(at) {
            *byte = value;
        }
        bytes.truncate(length);
        fs::write(folder.file(RPM).join("one.rpm"), bytes).unwrap();
        let checked = check_folder(folder.path(), PackageCheckOptions::default()).unwrap().result;
        if let Some(package) = checked.package {
            pack_plugin(folder.path(), &package, std::io::sink()).unwrap();
        }
    }
}
