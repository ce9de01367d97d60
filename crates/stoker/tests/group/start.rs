//! Concurrent first start of several servers on an empty database.

use serde_json::json;
use stoker_testkit::PrivatePostgres;

use crate::client::Client;
use crate::site::Site;

#[test]
fn three_servers_start_concurrently_on_an_empty_database() {
    let Some(postgres) = PrivatePostgres::start() else { return };
    let site = Site::on(postgres.database(), 3, &[]);
    for address in &site.servers {
        let client = Client::log_in(address);
        let users = client.expect(200, address, "GET", "/api/v1/users", None);
        assert_eq!(users.as_array().map(Vec::len), Some(1), "{users}");
    }
    let audit_log = site.get(1, "/api/v1/audit").unwrap_or(json!([]));
    let n_created =
        audit_log.as_array().unwrap().iter().filter(|entry| entry["action"] == "user.create").count();
    assert_eq!(n_created, 1);
    drop(site);
}
