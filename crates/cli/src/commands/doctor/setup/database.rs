//! Checks that the database responds, and its schema version.

use super::Setup;
use crate::commands::doctor::check_result::CheckResult;
use crate::commands::doctor::clocks;

const CHECK: &str = "database";
/// Oldest PostgreSQL version whose features the SQL statements need.
const POSTGRES_MIN: u32 = 13;

pub(super) fn check(setup: &Setup) -> Vec<CheckResult> {
    let inspection = match &setup.inspection {
        Ok(Some(inspection)) => inspection,
        Ok(None) => return vec![CheckResult::ok(CHECK, "does not exist; the first start creates it")],
        Err(error) => {
            let help = "check its address, that it is running, and the permissions of the user";
            return vec![CheckResult::problem(CHECK, error.clone(), help)];
        }
    };
    let mut findings = vec![CheckResult::ok(CHECK, format!("{} responds", inspection.engine))];
    findings.extend(check_engine_version(&inspection.engine));
    findings.push(match (inspection.schema_version, inspection.supported_version) {
        (0, _) => CheckResult::ok(CHECK, "has no tables; the first start creates them"),
        (found, known) if found == known => {
            CheckResult::ok(CHECK, format!("schema version {found} is current"))
        }
        (found, known) if found < known => CheckResult::warning(
            CHECK,
            format!("schema version {found} is outdated; the server migrates it to {known} at startup"),
            "make a backup first: older servers cannot use the new schema",
        ),
        (found, known) => CheckResult::problem(
            CHECK,
            format!("schema version {found} is too new: this program supports {known}"),
            "install the version of Stoker that migrated the database, or a newer one",
        ),
    });
    let clock = inspection.clock.map(|at| clocks::compare("clock", "the database", at.0, 0));
    findings.extend(clock);
    findings
}

fn check_engine_version(engine: &str) -> Option<CheckResult> {
    let version = engine.strip_prefix("PostgreSQL ")?;
    let major: u32 = version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
    (major < POSTGRES_MIN).then(|| {
        let help = format!("upgrade to PostgreSQL {POSTGRES_MIN} or newer");
        CheckResult::problem(CHECK, format!("PostgreSQL {major} is too old"), help)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_engines_are_rejected() {
        assert!(check_engine_version("PostgreSQL 9.6.24").is_some());
        for supported in ["PostgreSQL 15.8 (Debian 15.8-1)", "PostgreSQL 17devel", "SQLite 3.1"] {
            assert!(check_engine_version(supported).is_none(), "{supported}");
        }
    }
}
