//! Login, tokens and users.

use std::os::unix::fs::PermissionsExt as _;

use crate::fixture::{CliFixture, run_command};
use crate::process::PASSWORD;

#[test]
fn login_is_stored_in_a_private_file_until_logout() {
    let cli = CliFixture::bare();
    let url = cli.url();
    cli.run_args(&["whoami", "--server", &url], "").fails(1, &["stoker login"]);
    cli.run_args(&["login", "--server", &url], "wrong").fails(1, &["wrong user name or password"]);
    cli.run_args(&["login", "--server", &url], "").fails(3, &["unexpected end of standard input"]);
    let login = cli.run_args(&["login", "--server", &url, "--user", "admin"], PASSWORD);
    assert!(login.err.contains("logged in"), "{}", login.err);
    assert!(login.ok().is_empty());
    let file = cli.folder.file("config/stoker/credentials.json");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!std::fs::read_to_string(&file).unwrap().contains(PASSWORD));
    let me = cli.run("whoami --output json").json();
    assert_eq!((&me["name"], &me["server"]), (&"admin".into(), &url.clone().into()));
    // Options are also accepted before the noun.
    assert_eq!(cli.run("--output json whoami").json(), me);

    // A readable file may be compromised.
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    cli.run("whoami").fails(3, &["other users can read it"]);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();

    // The stored token is not sent to another server.
    let words = ["whoami", "--server", &url.replace("127.0.0.1", "localhost")];
    cli.run_args(&words, "").fails(1, &["stoker login"]);

    let stored: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let token = stored["servers"][&url]["token"].as_str().unwrap().to_owned();
    cli.run_args(&["whoami", "--server", &url, "--token", &token], "").ok();
    assert!(cli.run("logout").err.contains("logged out"));
    // The token is revoked.
    cli.run_args(&["whoami", "--server", &url, "--token", &token], "").fails(1, &["stoker login"]);
    cli.run_args(&["whoami", "--server", &url], "").fails(1, &["stoker login"]);
    cli.run("logout").ok();
    std::fs::write(&file, "{").unwrap();
    cli.run("whoami").fails(3, &["delete it and log in again"]);
}

#[test]
fn tokens_and_variables_replace_a_login() {
    let cli = CliFixture::new();
    let token = cli.run("token create nightly --days 1").ok();
    let labels = cli.run("token list --output json").json();
    assert!(labels.as_array().unwrap().iter().any(|token| token["label"] == "nightly"));
    let config = cli.run("config show").ok();
    assert!(config.contains("last login") && !config.contains(token.trim()), "{config}");
    cli.run("logout").ok();
    let url = cli.url();
    cli.run_args(&["env", "list", "--server", &url, "--token", token.trim()], "").ok();
    cli.run_args(&["env", "list", "--server", &url, "--token", "wrong"], "").fails(1, &["stoker login"]);
    let mut command = cli.command(&["env", "list"], 80);
    command.env("STOKER_SERVER", &url).env("STOKER_TOKEN", token.trim());
    run_command(command, "").ok();
    let mut command = cli.command(&["env", "list"], 80);
    command.env("STOKER_SERVER", &url).env("STOKER_PASSWORD", PASSWORD);
    run_command(command, "").ok();
}

#[test]
fn users_have_only_the_permissions_of_their_roles() {
    let cli = CliFixture::new();
    cli.run_with("user create ada --role viewer", "engine\n").ok();
    cli.run_with("user create bob --role king", "x\n").fails(2, &["expected one of"]);
    assert!(cli.run("user show ada").ok().contains("viewer"));
    cli.run("user update ada --role viewer,member").ok();
    cli.run("user show nobody").fails(1, &["user `nobody` not found", "stoker user list"]);
    assert!(cli.run("user list").ok().contains("viewer"));
    let url = cli.url();
    cli.run_args(&["login", "--server", &url, "--user", "ada"], "engine").ok();
    cli.run("release list").ok();
    cli.run("env create x --release 1").fails(1, &["stoker whoami"]);
    cli.run_with("user password", "engine\nanother engine\n").ok();
    cli.run_args(&["login", "--server", &url, "--user", "ada"], "another engine").ok();
}
