//! Plugin package repositories over HTTP, as package managers read them.

use axum::body::Body;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use stoker_model::NewRelease;
use stoker_registry::package::PackageVersion;

use crate::beginnings::{create_cluster_of, create_release_from, release_body};
use crate::component_fixtures::set_plugins_enabled;
use crate::fixtures::set_plugin_enabled;
use crate::packages::{PluginSource, upload};
use crate::runs::{Site, task};
use crate::support::{Reply, TestServer, request};

type Headers<'a> = &'a [(&'a str, &'a str)];

const REPOSITORY: &str = "/packages/gridnet-1.0/repositories/ubuntu";

/// Returns a cluster with an enabled plugin that has a repository, and one node with its role.
async fn create_site() -> Site {
    let site = Site::new(&json!([task("own", json!("*"), "true", json!({}))])).await;
    let source = PluginSource::new("gridnet", PackageVersion::V5);
    source.write("repositories/ubuntu/Packages", "abcdefghij");
    source.write("repositories/ubuntu/deep/a.deb.txt", "x");
    source.write("repositories/ubuntu/.hidden", "x");
    upload(&site.server, source.archive()).await.expect(201);
    set_plugin_enabled(&site.server, site.cluster, true).await;
    let path = format!("clusters/{}/assignment", site.cluster);
    site.server.post(&path, &json!([{"id": site.nodes[0], "roles": ["gridnet"]}])).await.expect(200);
    site
}

async fn get_with_headers(server: &TestServer, path: &str, headers: Headers<'_>) -> Reply {
    let mut request = server.request("GET", path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    server.send(request.body(Body::empty()).unwrap()).await
}

/// Returns a minimal Debian package.
fn debian_package() -> Vec<u8> {
    let control = b"Package: a\nVersion: 1\nArchitecture: all\n";
    let mut tar = vec![0u8; 512];
    tar[..7].copy_from_slice(b"control");
    tar[100..107].copy_from_slice(b"0000644");
    tar[124..135].copy_from_slice(format!("{:011o}", control.len()).as_bytes());
    tar[148..156].copy_from_slice(b"        ");
    tar[156] = b'0';
    let sum: u32 = tar.iter().map(|byte| u32::from(*byte)).sum();
    tar[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    tar.extend(control);
    tar.resize(512 * 4, 0);
    let header = format!("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", "control.tar", 0, 0, 0, "100644", tar.len());
    [b"!<arch>\n", header.as_bytes(), &tar].concat()
}

#[tokio::test]
async fn unusable_repository_packages_are_reported() {
    let server = TestServer::new().await;
    let source = PluginSource::new("gridnet", PackageVersion::V5);
    source.write_bytes("repositories/ubuntu/a.deb", &debian_package());
    let created = upload(&server, source.archive()).await.expect(201);
    let warnings = created["warnings"].to_string();
    assert!(warnings.contains("repositories/ubuntu: packages without an index"), "{warnings}");
    let broken = PluginSource::new("other", PackageVersion::V5);
    broken.write("repositories/ubuntu/a.deb", "x");
    let error = upload(&server, broken.archive()).await.expect_error(400);
    assert!(error.contains("repositories/ubuntu/a.deb: it is not a Debian package"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn range_and_conditional_requests_are_supported() {
    let site = create_site().await;
    let path = format!("{REPOSITORY}/Packages");
    let full = get_with_headers(&site.server, &path, &[]).await;
    assert_eq!((full.status, full.body.as_str()), (200, Some("abcdefghij")));
    assert_eq!(full.header("content-length"), "10");
    assert_eq!(full.header("content-type"), "application/octet-stream");
    assert_eq!(full.header("accept-ranges"), "bytes");
    assert_eq!(full.header("cache-control"), "private, no-cache");
    let (tag, modified) = (full.header("etag").to_owned(), full.header("last-modified").to_owned());
    assert!(tag.starts_with('"') && modified.ends_with(" GMT"), "{tag} {modified}");
    let cases: &[(Headers<'_>, u16, &str)] = &[
        (&[("range", "bytes=1-3")], 206, "bytes 1-3/10"),
        (&[("range", "bytes=-2")], 206, "bytes 8-9/10"),
        (&[("range", "bytes=1-3"), ("if-range", &tag)], 206, "bytes 1-3/10"),
        (&[("range", "bytes=1-3"), ("if-range", &modified)], 206, "bytes 1-3/10"),
        (&[("range", "bytes=1-3"), ("if-range", "\"another\"")], 200, ""),
        (&[("range", "bytes=10-")], 416, "bytes */10"),
        (&[("range", "nonsense")], 200, ""),
        (&[("if-none-match", &tag)], 304, ""),
        (&[("if-none-match", "\"another\""), ("if-modified-since", &modified)], 200, ""),
        (&[("if-modified-since", &modified)], 304, ""),
        (&[("if-modified-since", "Sat, 01 Jan 2000 00:00:00 GMT")], 200, ""),
        (&[("if-modified-since", "yesterday")], 200, ""),
    ];
    for (headers, status, range) in cases {
        let reply = get_with_headers(&site.server, &path, headers).await;
        assert_eq!((reply.status, reply.header("content-range")), (*status, *range), "{headers:?}");
    }
    let head = site.server.request("HEAD", &path).body(Body::empty()).unwrap();
    let head = site.server.send(head).await;
    assert_eq!((head.status, head.header("content-length"), &head.body), (200, "10", &json!(null)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_outside_the_repository_are_not_served() {
    let site = create_site().await;
    let server = &site.server;
    assert_eq!(get_with_headers(server, &format!("{REPOSITORY}/./deep//a.deb.txt"), &[]).await.status, 200);
    for path in [
        REPOSITORY.to_owned(),
        format!("{REPOSITORY}/deep"),
        format!("{REPOSITORY}/none"),
        format!("{REPOSITORY}/.hidden"),
        format!("{REPOSITORY}/../../metadata.yaml"),
        format!("{REPOSITORY}/%2e%2e/%2e%2e/metadata.yaml"),
        format!("{REPOSITORY}/..%2f..%2fmetadata.yaml"),
        format!("{REPOSITORY}%2fPackages%00"),
        "/packages/gridnet-1.0/metadata.yaml".to_owned(),
        "/packages/gridnet-1.0//etc/passwd".to_owned(),
        "/packages/..%2fgridnet-1.0/repositories/ubuntu/Packages".to_owned(),
        "/packages/gridnet-2.0/repositories/ubuntu/Packages".to_owned(),
        "/packages".to_owned(),
        "/packages/".to_owned(),
    ] {
        assert_eq!(get_with_headers(server, &path, &[]).await.status, 404, "{path}");
    }
    let put = server.request("PUT", &format!("{REPOSITORY}/Packages")).body(Body::from("x")).unwrap();
    assert_eq!(server.send(put).await.status, 405);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repository_access_requires_credentials() {
    let site = create_site().await;
    let path = format!("{REPOSITORY}/Packages");
    let get_with_authorization = async |authorization: Option<String>| {
        let mut request = request("GET", &path);
        if let Some(authorization) = authorization {
            request = request.header("authorization", authorization);
        }
        site.server.send(request.body(Body::empty()).unwrap()).await
    };
    let basic = |text: &str| Some(format!("Basic {}", STANDARD.encode(text)));
    let anonymous = get_with_authorization(None).await;
    assert_eq!(anonymous.status, 401);
    assert!(
        anonymous.header("www-authenticate").starts_with("Basic realm="),
        "package managers require the challenge"
    );
    for authorization in [
        basic(&format!("node-{}:wrong", site.nodes[0])),
        basic("node-99:wrong"),
        basic("node-x:wrong"),
        basic("node-1"),
        Some("Basic !!".to_owned()),
        Some("Bearer nonsense".to_owned()),
    ] {
        assert_eq!(get_with_authorization(authorization.clone()).await.status, 401, "{authorization:?}");
    }
    // Failed logins are rate limited.
    let mut statuses = Vec::new();
    for _ in 0..12 {
        statuses.push(get_with_authorization(basic(&format!("node-{}:wrong", site.nodes[0]))).await.status);
    }
    assert_eq!(statuses.last(), Some(&429), "{statuses:?}");
    let viewer = site.server.create_user("viewer", "admin", "viewer").await;
    assert_eq!(site.server.send_as(&viewer, "GET", &path, &json!(null)).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repository_is_configured_and_removed_with_the_plugin() {
    let site = create_site().await;
    let [first, second] = site.nodes;
    let deploy_and_list = async || {
        let run = site.deploy(json!({})).await;
        assert_eq!(run["status"], "ready", "{run}");
        let attempts = site.attempts.take().into_iter().filter(|attempt| attempt.contains("-repository"));
        attempts.collect::<Vec<String>>()
    };
    let both = [format!("gridnet-repository@{first}"), format!("gridnet-repository-update@{first}")];
    assert_eq!(deploy_and_list().await, both);
    assert_eq!(deploy_and_list().await, Vec::<String>::new(), "the repository is configured already");
    let path = format!("clusters/{}/assignment", site.cluster);
    site.server.post(&path, &json!([{"id": second, "roles": ["gridnet"]}])).await;
    set_plugin_enabled(&site.server, site.cluster, false).await;
    assert_eq!(deploy_and_list().await, both, "the repository is removed from the node that had it");
    assert_eq!(deploy_and_list().await, Vec::<String>::new());
}

/// A plugin names any operating system whose format of repositories is known.
#[tokio::test]
async fn plugins_support_the_operating_system_of_the_release() {
    for (os, path) in [("Debian", "/etc/apt/sources.list.d/"), ("Rocky", "/etc/yum.repos.d/")] {
        let server = TestServer::new().await;
        let release = NewRelease { operating_system: os.to_owned(), ..release_body() };
        let release = create_release_from(&server, release).await;
        let cluster = create_cluster_of(&server, release, "demo").await;
        let source = PluginSource::new("gridnet", PackageVersion::V5);
        source.edit("metadata.yaml", "os: ubuntu", &format!("os: {}", os.to_lowercase()));
        source.write("repositories/ubuntu/Packages", "x");
        source.write("repositories/ubuntu/repodata/repomd.xml", "x");
        let installed = upload(&server, source.archive()).await.expect(201);
        assert_eq!(installed["warnings"], json!([]), "{os}");
        set_plugins_enabled(&server, cluster, &[("gridnet", true)]).await.expect(200);
        let merged = server.get(&format!("clusters/{cluster}/deployment_tasks")).await.expect(200);
        assert!(merged.to_string().contains(path), "{os}: {merged}");
    }
}
