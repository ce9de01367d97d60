//! `metadata.yaml`.

use super::with_line;

#[test]
fn metadata_fields_are_checked() {
    for (version, key, line, expected) in [
        (1, "name", "", "field-required name"),
        (1, "name", "name: Demo", "field-pattern name"),
        (1, "name", "name: \"demo\\n\"", "field-pattern name"),
        (1, "name", "name: ''", "field-pattern name"),
        (1, "title", "title: 5", "field-type title"),
        (1, "description", "", "field-required description"),
        (1, "version", "version: 1.0", "field-type version"),
        (1, "version", "version: '1'", "version-malformed version"),
        (1, "package_version", "package_version: '6.0.0'", "package-version-unknown package_version"),
        (1, "package_version", "package_version: 1.0.1", "package-version-unknown package_version"),
        (2, "package_version", "", "field-required package_version"),
        (1, "fuel_version", "fuel_version: '6.0'", "field-type fuel_version"),
        (1, "fuel_version", "fuel_version: ['5.1']", "fuel-version-too-old fuel_version[0]"),
        (2, "fuel_version", "fuel_version: ['6.0', '6.1']", "fuel-version-too-old fuel_version[0]"),
        (5, "fuel_version", "fuel_version: ['8.0']", "fuel-version-too-old fuel_version[0]"),
        (1, "fuel_version", "fuel_version: ['6']", "version-malformed fuel_version[0]"),
        (1, "fuel_version", "fuel_version: [6.1]", "field-type fuel_version[0]"),
        (2, "licenses", "", "field-required licenses"),
        (2, "authors", "authors: [1]", "field-type authors[0]"),
        (3, "homepage", "homepage: 1", "field-type homepage"),
        (3, "groups", "groups: [network, network]", "not-unique groups[1]"),
        (3, "groups", "groups: [equipment]", "field-enum groups[0]"),
        (4, "is_hotpluggable", "is_hotpluggable: 'yes'", "field-type is_hotpluggable"),
        (4, "is_hotpluggable", "", "field-required is_hotpluggable"),
        (4, "nothing", "licence: x", "?unexpected-field licence"),
        (1, "releases", "", "field-required releases"),
    ] {
        assert_eq!(with_line(version, key, line), [expected], "{version} {line}");
    }
    for line in ["groups: [equipment]", "groups: []", "build_version: 2", "releases: []"] {
        let key = line.split_once(':').unwrap().0;
        assert_eq!(with_line(4, key, line), Vec::<String>::new(), "{line}");
    }
    assert_eq!(with_line(2, "fuel_version", "fuel_version: ['10.0', '6.1.1']"), Vec::<String>::new());
}

#[test]
fn releases_are_checked() {
    let release = |text: &str| with_line(3, "releases", &format!("releases: [{{{text}}}]"));
    let paths = "deployment_scripts_path: scripts, repository_path: repositories/ubuntu";
    assert_eq!(
        release(&format!("os: ubuntu, version: a-7.0, mode: [], {paths}, more: 1")),
        Vec::<String>::new()
    );
    for os in ["Ubuntu", "debian", "Rocky", "rhel"] {
        assert_eq!(
            release(&format!("os: {os}, version: a-7.0, mode: [], {paths}")),
            Vec::<String>::new(),
            "{os}"
        );
    }
    assert_eq!(
        release(&format!("os: ubuntu, version: a-7.1, mode: [], {paths}")),
        ["?product-version releases[0].version"]
    );
    for (os, expected) in [
        ("opensuse", "?field-enum releases[0].os"),
        ("''", "too-short releases[0].os"),
        ("[ubuntu]", "field-type releases[0].os"),
    ] {
        assert_eq!(release(&format!("os: {os}, version: a-7.0, mode: [], {paths}")), [expected]);
    }
    assert_eq!(
        release(&format!("os: ubuntu, version: 1, mode: [], {paths}")),
        ["field-type releases[0].version"]
    );
    assert_eq!(
        release(&format!("os: ubuntu, version: a-7.0, mode: [x], {paths}")),
        ["field-enum releases[0].mode[0]"]
    );
    assert_eq!(
        release("os: ubuntu, version: a-7.0, mode: [], deployment_scripts_path: nowhere"),
        [
            "field-required releases[0].repository_path",
            "release-path-missing releases[0].deployment_scripts_path"
        ]
    );
}

#[test]
fn provided_components_are_checked() {
    let provides = |text: &str| with_line(4, "provides", &format!("provides: {text}"));
    assert_eq!(
        provides("[{name: 'networking:core', compatible_hypervisors: [core], compatible_storages: ~}]"),
        Vec::<String>::new()
    );
    assert_eq!(
        provides("[{name: 'networking:core'}, {name: 'hypervisor:xen'}]"),
        ["specific-name-required provides[0].name"]
    );
    assert_eq!(provides("[{name: 'x:y'}]"), ["component-name provides[0].name"]);
    assert_eq!(provides("[{label: x}]"), ["field-required provides[0].name"]);
    assert_eq!(
        provides("[{name: 'hypervisor:xen', compatible_networking: ['core:*', all]}]"),
        ["bad-token provides[0].compatible_networking[0]"]
    );
    assert_eq!(
        provides("[{name: 'hypervisor:xen', compatible_storages: all}]"),
        ["field-type provides[0].compatible_storages"]
    );
}
