//! The first start of several servers at once, on a database without tables.

use serde_json::json;
use stoker_testkit::OwnPostgres;

use crate::client::Client;
use crate::site::Site;

#[test]
fn three_servers_start_at_once_on_an_empty_database() {
    let Some(postgres) = OwnPostgres::start_new() else { return };
    let site = Site::on(postgres.database(), 3, &[]);
    for address in &site.servers {
        let client = Client::log_in(address);
        let users = client.expect(200, address, "GET", "/api/v1/users", None);
        assert_eq!(users.as_array().map(Vec::len), Some(1), "{users}");
    }
    let sweeps = site.get(1, "/api/v1/audit").unwrap_or(json!([]));
    let made = sweeps.as_array().unwrap().iter().filter(|entry| entry["action"] == "user.create").count();
    assert_eq!(made, 1);
    drop(site);
}
