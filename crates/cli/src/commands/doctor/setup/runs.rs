//! Checks for runs with an expired lease.

use stoker_model::{ErrorChain, Micros};
use stoker_store::{Store, StoreError};

use super::Setup;
use crate::commands::doctor::check_result::CheckResult;
use crate::commands::doctor::clocks::{SECOND_MICROS, now_micros};
use crate::runtime::block_on;

const CHECK: &str = "runs";
/// Time after the expiry of a lease until a run counts as abandoned: longer than a takeover by another server
/// or a restart.
const GRACE_PERIOD: i64 = 60 * SECOND_MICROS;

pub(super) fn check(setup: &Setup) -> Vec<CheckResult> {
    // Opening another schema version would migrate it.
    let is_current_schema = matches!(&setup.inspection, Ok(Some(inspection)) if inspection.schema_version == inspection.supported_version);
    if !is_current_schema {
        return Vec::new();
    }
    let query = async {
        let store = Store::open(&setup.database).await?;
        let expired_before = Micros(now_micros() - GRACE_PERIOD);
        let free = async { store.read().await?.run_work_unowned("", expired_before).await };
        let free: Result<_, StoreError> = free.await;
        store.close().await;
        Ok::<_, Box<dyn std::error::Error>>(free?)
    };
    let free = match block_on(query) {
        Ok(Ok(free)) => free,
        Ok(Err(error)) => {
            return vec![CheckResult::problem(
                CHECK,
                ErrorChain(&*error).to_string(),
                "check the database: it responds, but cannot be read",
            )];
        }
        Err(_) => return Vec::new(),
    };
    // Runs that never had a lease may have just been created.
    let abandoned: Vec<String> =
        free.iter().filter(|work| work.lease_until.is_some()).map(|work| work.run_id.to_string()).collect();
    vec![if abandoned.is_empty() {
        CheckResult::ok(CHECK, "no run waits for a server")
    } else {
        CheckResult::warning(
            CHECK,
            format!("runs without a driver: {}", abandoned.join(", ")),
            "start a server on this database: it takes the runs over",
        )
    }]
}
