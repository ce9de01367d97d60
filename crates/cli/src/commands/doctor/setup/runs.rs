//! Runs that nobody carries out.

use stoker_model::Micros;
use stoker_store::{Store, StoreError};

use super::Setup;
use crate::commands::doctor::finding::Finding;
use crate::commands::doctor::times::{SECOND, now_micros};
use crate::runtime::block_on;

const CHECK: &str = "runs";
/// A server that dies is followed by another, or by itself, in less time.
const OLD: i64 = 60 * SECOND;

pub(super) fn check(setup: &Setup) -> Vec<Finding> {
    // Opening another version would bring it up to date.
    let is_ours = matches!(&setup.inspected, Ok(Some(inspection)) if inspection.found == inspection.known);
    if !is_ours {
        return Vec::new();
    }
    let read = async {
        let store = Store::open(&setup.database).await.map_err(|error| error.to_string())?;
        let old = Micros(now_micros() - OLD);
        let free = async { store.read().await?.run_work_free("", old).await };
        let free: Result<_, StoreError> = free.await;
        store.close().await;
        free.map_err(|error| error.to_string())
    };
    let free = match block_on(read) {
        Ok(Ok(free)) => free,
        Ok(Err(error)) => {
            return vec![Finding::problem(CHECK, error, "the database answers and cannot be read")];
        }
        Err(_) => return Vec::new(),
    };
    // One that was never in anybody's hands may have begun a moment ago.
    let abandoned: Vec<String> =
        free.iter().filter(|work| work.lease_until.is_some()).map(|work| work.run_id.to_string()).collect();
    vec![if abandoned.is_empty() {
        Finding::ok(CHECK, "none waits for a server")
    } else {
        Finding::warning(
            CHECK,
            format!("nobody carries out: {}", abandoned.join(", ")),
            "start a server on this database: it takes them up by itself",
        )
    }]
}
