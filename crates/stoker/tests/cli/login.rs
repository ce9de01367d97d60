//! Who we are, and what is kept of it.

use std::os::unix::fs::PermissionsExt as _;

use crate::desk::{Desk, said};
use crate::process::PASSWORD;

#[test]
fn a_login_is_kept_in_a_private_file_until_it_is_forgotten() {
    let desk = Desk::bare();
    let url = desk.url();
    desk.typed(&["whoami", "--server", &url], "").fails(1, &["stoker login"]);
    desk.typed(&["login", "--server", &url], "wrong").fails(1, &["name or password is wrong"]);
    desk.typed(&["login", "--server", &url], "").fails(3, &["standard input has ended"]);
    let login = desk.typed(&["login", "--server", &url, "--user", "admin"], PASSWORD);
    assert!(login.err.contains("logged in"), "{}", login.err);
    assert!(login.ok().is_empty());
    let file = desk.folder.file("config/stoker/credentials.json");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!std::fs::read_to_string(&file).unwrap().contains(PASSWORD));
    let me = desk.run("whoami --output json").json();
    assert_eq!((&me["name"], &me["server"]), (&"admin".into(), &url.clone().into()));
    // Options may stand before the noun, too.
    assert_eq!(desk.run("--output json whoami").json(), me);

    // Whoever could read it may have.
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    desk.run("whoami").fails(3, &["others may read it"]);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();

    // A token is sent to no other server.
    let words = ["whoami", "--server", &url.replace("127.0.0.1", "localhost")];
    desk.typed(&words, "").fails(1, &["stoker login"]);

    let kept: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let token = kept["servers"][&url]["token"].as_str().unwrap().to_owned();
    desk.typed(&["whoami", "--server", &url, "--token", &token], "").ok();
    assert!(desk.run("logout").err.contains("logged out"));
    // Nobody can use it any more, whoever has a copy of it.
    desk.typed(&["whoami", "--server", &url, "--token", &token], "").fails(1, &["stoker login"]);
    desk.typed(&["whoami", "--server", &url], "").fails(1, &["stoker login"]);
    desk.run("logout").ok();
    std::fs::write(&file, "{").unwrap();
    desk.run("whoami").fails(3, &["remove it and log in again"]);
}

#[test]
fn tokens_and_variables_stand_in_for_a_login() {
    let desk = Desk::new();
    let token = desk.run("token create nightly --days 1").ok();
    let labels = desk.run("token list --output json").json();
    assert!(labels.as_array().unwrap().iter().any(|token| token["label"] == "nightly"));
    let shown = desk.run("config show").ok();
    assert!(shown.contains("the last login") && !shown.contains(token.trim()), "{shown}");
    desk.run("logout").ok();
    let url = desk.url();
    desk.typed(&["env", "list", "--server", &url, "--token", token.trim()], "").ok();
    desk.typed(&["env", "list", "--server", &url, "--token", "wrong"], "").fails(1, &["stoker login"]);
    let mut command = desk.command(&["env", "list"], 80);
    command.env("STOKER_SERVER", &url).env("STOKER_TOKEN", token.trim());
    said(command, "").ok();
    let mut command = desk.command(&["env", "list"], 80);
    command.env("STOKER_SERVER", &url).env("STOKER_PASSWORD", PASSWORD);
    said(command, "").ok();
}

#[test]
fn users_are_made_and_may_only_do_what_they_may() {
    let desk = Desk::new();
    desk.run_with("user create ada --role viewer", "engine\n").ok();
    desk.run_with("user create bob --role king", "x\n").fails(2, &["must be one of"]);
    assert!(desk.run("user show ada").ok().contains("viewer"));
    desk.run("user update ada --role viewer,member").ok();
    desk.run("user show nobody").fails(1, &["there is no user `nobody`", "stoker user list"]);
    assert!(desk.run("user list").ok().contains("viewer"));
    let url = desk.url();
    desk.typed(&["login", "--server", &url, "--user", "ada"], "engine").ok();
    desk.run("release list").ok();
    desk.run("env create x --release 1").fails(1, &["stoker whoami"]);
    desk.run_with("user password", "engine\nanother engine\n").ok();
    desk.typed(&["login", "--server", &url, "--user", "ada"], "another engine").ok();
}
