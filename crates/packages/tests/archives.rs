//! Archives: round trips, and rejection of malformed and hostile archives.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use stoker_packages::{ArchiveError, ArchiveLimits, PluginsRoot, check_folder, pack, unpack};
use stoker_registry::package::{PackageCheckOptions, PackageVersion, SkeletonOptions, skeleton};
use stoker_testkit::TempFolder;

fn write_skeleton(folder: &Path, version: PackageVersion) {
    for file in skeleton(SkeletonOptions { name: "gridnet", version, has_wizard: true }).unwrap() {
        let path = folder.join(&file.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &file.text).unwrap();
        if file.is_executable {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
}

fn packed(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    pack(folder, "gridnet-1.0", &mut bytes).unwrap();
    bytes
}

/// Builds one tar member.
fn member(path: &str, kind: u8, content: &[u8]) -> Vec<u8> {
    let mut header = vec![0u8; 512];
    let name = &path.as_bytes()[..path.len().min(100)];
    header[..name.len()].copy_from_slice(name);
    header[100..107].copy_from_slice(b"0000644");
    header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
    header[148..156].copy_from_slice(b"        ");
    header[156] = kind;
    header[257..262].copy_from_slice(b"ustar");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header.extend(content);
    header.resize(header.len().next_multiple_of(512), 0);
    header
}

fn archive(members: &[Vec<u8>]) -> Vec<u8> {
    let mut tar = members.concat();
    tar.extend([0; 1024]);
    compressed(&tar)
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const EMPTY_SUM: &str = "da39a3ee5e6b4b0d3255bfef95601890afd80709";

/// Returns the error message of a rejected archive; asserts that none of its files remain.
#[track_caller]
fn refusal(bytes: &[u8], limits: &ArchiveLimits) -> String {
    let root = TempFolder::new();
    let error = unpack(bytes, root.path(), limits).unwrap_err();
    assert!(error.is_archive_fault(), "{error}");
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0, "{error}");
    error.to_string()
}

#[test]
fn packages_round_trip_for_all_versions() {
    for version in PackageVersion::ALL {
        let (source, root) = (TempFolder::new(), TempFolder::new());
        write_skeleton(source.path(), *version);
        fs::create_dir(source.file(".git")).unwrap();
        fs::write(source.file(".git/config"), "secret").unwrap();
        fs::create_dir_all(source.file("deployment_scripts/empty")).unwrap();
        let bytes = packed(source.path());
        assert_eq!(packed(source.path()), bytes, "packing is reproducible");
        let unpacked = unpack(&bytes[..], root.path(), &ArchiveLimits::default()).unwrap();
        let folder = unpacked.folder().to_owned();
        assert!(folder.ends_with("gridnet-1.0"));
        assert!(!folder.join(".git").exists());
        assert!(folder.join("deployment_scripts/empty").is_dir());
        let before = check_folder(source.path(), PackageCheckOptions::default()).unwrap();
        let after = check_folder(&folder, PackageCheckOptions::default()).unwrap();
        assert!(before.result.package.is_some(), "{:?}", before.result.problems);
        assert_eq!(before.result, after.result);
        let script = fs::metadata(folder.join("deployment_scripts/deploy.sh")).unwrap();
        assert_eq!(script.permissions().mode() & 0o777, 0o755);
        // Packing the unpacked directory reproduces the archive.
        assert_eq!(packed(&folder), bytes);
        drop(unpacked);
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }
}

#[test]
fn other_formats_are_reported() {
    for (bytes, expected) in [
        (&b""[..], "an empty file"),
        (b"PK\x03\x04", "a zip archive"),
        (&[0xed, 0xab, 0xee, 0xdb, 3, 0], "an RPM package"),
        (b"hello", "an unknown format"),
        (&member("a/b", b'0', b"x"), "an uncompressed tar archive"),
    ] {
        let message = refusal(bytes, &ArchiveLimits::default());
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn paths_outside_the_package_are_rejected() {
    for (path, expected) in [
        ("../evil", "outside the package"),
        ("p/../../evil", "outside the package"),
        ("p/a/..", "outside the package"),
        ("/etc/evil", "is absolute"),
        ("p\\..\\evil", "characters"),
        ("p/a\nb", "characters"),
    ] {
        let message = refusal(&archive(&[member(path, b'0', b"x")]), &ArchiveLimits::default());
        assert!(message.contains(expected), "{path}: {message}");
    }
}

#[test]
fn links_and_devices_are_rejected() {
    for (kind, expected) in [
        (b'1', "links"),
        (b'2', "links"),
        (b'3', "devices"),
        (b'4', "devices"),
        (b'6', "pipes"),
        (b'S', "unsupported archive member type"),
        (b'Z', "unsupported archive member type"),
    ] {
        let message = refusal(&archive(&[member("p/a", kind, b"")]), &ArchiveLimits::default());
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn conflicting_members_are_rejected() {
    for members in [
        [member("p/a", b'0', b"1"), member("p/a", b'0', b"2")],
        [member("p/a", b'0', b"1"), member("p/./a", b'0', b"2")],
        [member("p/a", b'0', b"1"), member("p/a/b", b'0', b"2")],
        [member("p/a/b", b'0', b"1"), member("p/a", b'0', b"2")],
        [member("p/a", b'0', b"1"), member("p/a/", b'5', b"")],
    ] {
        refusal(&archive(&members), &ArchiveLimits::default());
    }
}

#[test]
fn checksums_are_verified() {
    let metadata = member("p/metadata.yaml", b'0', b"");
    let with = |text: &str| archive(&[metadata.clone(), member("p/checksums.sha1", b'0', text.as_bytes())]);
    let root = TempFolder::new();
    let valid = with(&format!("{EMPTY_SUM} metadata.yaml\n"));
    unpack(&valid[..], root.path(), &ArchiveLimits::default()).unwrap();
    for (bytes, expected) in [
        (archive(std::slice::from_ref(&metadata)), "`checksums.sha1` is missing"),
        (with(""), "`metadata.yaml` is not listed in `checksums.sha1`"),
        (with(&format!("{} metadata.yaml\n", "0".repeat(40))), "`metadata.yaml` does not match its checksum"),
        (with(&format!("{EMPTY_SUM} metadata.yaml\n{EMPTY_SUM} more\n")), "`more` is missing"),
        (with("nonsense"), "not `<sha1> <path>`"),
    ] {
        let message = refusal(&bytes, &ArchiveLimits::default());
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn layouts_of_other_builders_are_accepted() {
    let root = TempFolder::new();
    let sums = format!("{EMPTY_SUM}  ./metadata.yaml\n");
    let at_top = archive(&[
        member("./", b'5', b""),
        member("./metadata.yaml", b'0', b""),
        member("./checksums.sha1", b'0', sums.as_bytes()),
    ]);
    let plugins = PluginsRoot::new(root.file("plugins"));
    let unpacked = plugins.unpack(&at_top[..], &ArchiveLimits::default()).unwrap();
    plugins.install(unpacked, "p-1.0").unwrap().commit();
    assert!(plugins.folder("p-1.0").join("metadata.yaml").is_file());
    let sums = format!("{EMPTY_SUM} p-1.0.0/metadata.yaml\n");
    let from_top = archive(&[
        member("p-1.0.0/metadata.yaml", b'0', b""),
        member("p-1.0.0/checksums.sha1", b'0', sums.as_bytes()),
    ]);
    let unpacked = unpack(&from_top[..], root.path(), &ArchiveLimits::default()).unwrap();
    assert!(unpacked.folder().ends_with("p-1.0.0"));
    let two = archive(&[member("a/metadata.yaml", b'0', b""), member("b/metadata.yaml", b'0', b"")]);
    assert!(refusal(&two, &ArchiveLimits::default()).contains("neither a single top-level directory"));
    assert!(
        refusal(&archive(&[]), &ArchiveLimits::default()).contains("neither a single top-level directory")
    );
}

#[test]
fn limits_are_enforced() {
    let limits = ArchiveLimits {
        n_entries_max: 4,
        file_bytes_max: 1000,
        total_bytes_max: 1500,
        depth_max: 3,
        path_bytes_max: 30,
        text_bytes_max: 100,
    };
    let zeros = vec![0; 900];
    let file = |name: &str| member(name, b'0', &zeros);
    for (bytes, expected) in [
        (archive(&[member("p/a", b'0', &vec![0; 1001])]), "exceeds 1000 bytes"),
        (archive(&[file("p/a"), file("p/b")]), "exceed 1500 bytes"),
        (
            archive(&(0..5).map(|at| member(&format!("p/{at}"), b'0', b"")).collect::<Vec<_>>()),
            "more than 4 files",
        ),
        (archive(&[member("p/a/b/c", b'0', b"")]), "more than 3 levels"),
        (archive(&[member(&format!("p/{}", "x".repeat(40)), b'0', b"")]), "exceeds 30 bytes"),
        // Decompression bombs: small compressed, large uncompressed.
        (compressed(&vec![b'0'; 4 << 20]), "corrupt"),
        (archive(&vec![member("./", b'5', b""); 10_000]), "uncompressed size exceeds the limit"),
        (archive(&vec![member("x", b'g', b""); 10_000]), "uncompressed size exceeds the limit"),
    ] {
        let message = refusal(&bytes, &limits);
        assert!(message.contains(expected), "{expected}: {message}");
    }
    let mut bomb = member("p/a", b'0', b"");
    bomb[124..135].copy_from_slice(b"77777777777");
    bomb[148..156].copy_from_slice(b"        ");
    let sum: u32 = bomb.iter().map(|byte| u32::from(*byte)).sum();
    bomb[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    assert!(refusal(&archive(&[bomb]), &ArchiveLimits::default()).contains("exceed"));
}

#[test]
fn unpackable_folders_are_reported() {
    let source = TempFolder::new();
    write_skeleton(source.path(), PackageVersion::V4);
    symlink("/etc/passwd", source.file("deployment_scripts/link")).unwrap();
    let error = pack(source.path(), "x", Vec::new()).unwrap_err().to_string();
    assert!(error.contains("deployment_scripts/link") && error.contains("it is a symbolic link"), "{error}");
    let nowhere =
        check_folder(&source.file("nowhere"), PackageCheckOptions::default()).unwrap_err().to_string();
    assert!(nowhere.contains("cannot read"), "{nowhere}");
}

#[test]
fn invalid_utf8_is_reported() {
    let source = TempFolder::new();
    write_skeleton(source.path(), PackageVersion::V5);
    fs::write(source.file("components.yaml"), b"- name: \xff\n").unwrap();
    let checked = check_folder(source.path(), PackageCheckOptions::default()).unwrap().result;
    let messages: Vec<String> = checked.problems.iter().map(ToString::to_string).collect();
    assert!(messages.iter().any(|problem| problem.contains("not valid UTF-8")), "{messages:?}");
    assert!(checked.package.is_none());
}

#[test]
fn replacement_is_committed_or_rolled_back() {
    let (root_folder, source) = (TempFolder::new(), TempFolder::new());
    let root = PluginsRoot::new(root_folder.file("plugins"));
    assert_eq!(root.names().unwrap(), Vec::<String>::new());
    write_skeleton(source.path(), PackageVersion::V4);
    let receive = || root.unpack(&packed(source.path())[..], &ArchiveLimits::default()).unwrap();
    root.install(receive(), "gridnet-1.0").unwrap().commit();
    fs::write(source.file("README.md"), "new").unwrap();
    let readme = || fs::read_to_string(root.folder("gridnet-1.0").join("README.md")).unwrap();
    let old = readme();
    drop(root.install(receive(), "gridnet-1.0").unwrap());
    assert_eq!(readme(), old, "rolled back");
    root.install(receive(), "gridnet-1.0").unwrap().commit();
    assert_eq!(readme(), "new");
    drop(root.install(receive(), "other-1.0").unwrap());
    drop(root.remove("gridnet-1.0").unwrap());
    assert_eq!(root.names().unwrap(), ["gridnet-1.0"]);
    root.remove("gridnet-1.0").unwrap().commit();
    root.remove("nowhere").unwrap().commit();
    assert_eq!(fs::read_dir(root_folder.file("plugins")).unwrap().count(), 0);
}

#[test]
fn recover_cleans_up_after_a_crash() {
    let root_folder = TempFolder::new();
    let root = PluginsRoot::new(root_folder.path());
    root.recover().unwrap();
    for (path, text) in [
        (".unpacking-1/p/metadata.yaml", "half"),
        (".replaced-1/lost-1.0/metadata.yaml", "old"),
        (".replaced-2/replaced-1.0/metadata.yaml", "old"),
        ("replaced-1.0/metadata.yaml", "new"),
    ] {
        let path = root_folder.file(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::create_dir(root_folder.file(".replaced-3")).unwrap();
    root.recover().unwrap();
    assert_eq!(root.names().unwrap(), ["lost-1.0", "replaced-1.0"]);
    assert_eq!(fs::read_dir(root_folder.path()).unwrap().count(), 2);
    assert_eq!(fs::read_to_string(root_folder.file("replaced-1.0/metadata.yaml")).unwrap(), "new");
    PluginsRoot::new(root_folder.file("nowhere")).recover().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    /// A corrupt archive is rejected or harmless, and writes nothing outside its directory.
    #[test]
    fn corrupt_archives_do_not_panic(at in 0usize..4000, byte: u8, cut in 0usize..4000, is_inside: bool) {
        let members = [
            member("p/metadata.yaml", b'0', b""),
            member("p/checksums.sha1", b'0', format!("{EMPTY_SUM} metadata.yaml\n").as_bytes()),
        ];
        let mut bytes = if is_inside { [members.concat(), vec![0; 1024]].concat() } else { archive(&members) };
        let at = at % bytes.len();
        bytes[at] = byte;
        if cut < bytes.len() && cut % 3 == 0 {
            bytes.truncate(cut);
        }
        let bytes = if is_inside { compressed(&bytes) } else { bytes };
        let root = TempFolder::new();
        match unpack(&bytes[..], root.path(), &ArchiveLimits::default()) {
            Ok(unpacked) => drop(unpacked),
            Err(ArchiveError::Environment(error)) => prop_assert!(false, "{error}"),
            Err(_) => {}
        }
        prop_assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }
}
