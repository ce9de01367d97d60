//! Login, tokens and users.

use std::os::unix::fs::PermissionsExt as _;

use crate::fixture::CliFixture;
use crate::process::PASSWORD;

#[test]
fn login_is_stored_in_a_private_file_until_logout() {
    let cli = CliFixture::bare();
    let url = cli.url();
    cli.show_args(&["whoami", "--server", &url], "");
    cli.show_args(&["login", "--server", &url], "wrong");
    cli.show_args(&["login", "--server", &url], "");
    cli.show_args(&["login", "--server", &url, "--user", "admin"], PASSWORD);
    let file = cli.folder.file("config/stoker/credentials.json");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!std::fs::read_to_string(&file).unwrap().contains(PASSWORD));
    let me = cli.run("whoami --output json").json();
    assert_eq!((&me["name"], &me["server"]), (&"admin".into(), &url.clone().into()));
    // Options are also accepted before the noun.
    assert_eq!(cli.run("--output json whoami").json(), me);
    cli.show("whoami");

    // A readable file may be compromised.
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    cli.show("whoami");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();

    // The stored token is not sent to another server.
    cli.show_args(&["whoami", "--server", &url.replace("127.0.0.1", "localhost")], "");

    let stored: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let token = stored["servers"][&url]["token"].as_str().unwrap().to_owned();
    cli.show_args(&["whoami", "--server", &url, "--token", &token], "");
    cli.show("logout");
    // The token is revoked.
    cli.show_args(&["whoami", "--server", &url, "--token", &token], "");
    cli.show_args(&["whoami", "--server", &url], "");
    cli.show("logout");
    std::fs::write(&file, "{").unwrap();
    cli.show("whoami");
    insta::assert_snapshot!("login", cli.transcript());
}

#[test]
fn tokens_and_variables_replace_a_login() {
    let cli = CliFixture::new();
    let token = cli.show("token create nightly --days 1").ok();
    let token = token.trim();
    cli.show("token list");
    let labels = cli.run("token list --output json").json();
    assert!(labels.as_array().unwrap().iter().any(|token| token["label"] == "nightly"));
    let config = cli.show("config show").ok();
    assert!(!config.contains(token), "{config}");
    cli.show("logout");
    let url = cli.url();
    cli.show_args(&["env", "list", "--server", &url, "--token", token], "");
    cli.show_args(&["env", "list", "--server", &url, "--token", "wrong"], "");
    for (variable, value) in [("STOKER_TOKEN", token), ("STOKER_PASSWORD", PASSWORD)] {
        let mut command = cli.command(&["env", "list"], 80);
        command.env("STOKER_SERVER", &url).env(variable, value);
        cli.show_command(command, &["env", "list", &format!("# with {variable}")], "");
    }
    insta::assert_snapshot!("token", cli.transcript());
}

#[test]
fn users_have_only_the_permissions_of_their_roles() {
    let cli = CliFixture::new();
    cli.show_with("user create ada --role viewer", "engine\n");
    cli.show_with("user create bob --role king", "x\n");
    cli.show("user show ada");
    cli.show("user update ada --role viewer,member");
    cli.show("user show nobody");
    cli.show("user list");
    let url = cli.url();
    cli.show_args(&["login", "--server", &url, "--user", "ada"], "engine");
    cli.show("release list");
    cli.show("env create x --release 1");
    cli.show_with("user password", "engine\nanother engine\n");
    cli.show_args(&["login", "--server", &url, "--user", "ada"], "another engine");
    insta::assert_snapshot!("user", cli.transcript());
}
