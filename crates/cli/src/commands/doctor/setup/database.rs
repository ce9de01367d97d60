//! The database: whether it answers, and of which version it is.

use super::Setup;
use crate::commands::doctor::finding::Finding;
use crate::commands::doctor::times;

const CHECK: &str = "database";
/// Older ones lack what statements use.
const POSTGRES_MIN: u32 = 13;

pub(super) fn check(setup: &Setup) -> Vec<Finding> {
    let inspection = match &setup.inspected {
        Ok(Some(inspection)) => inspection,
        Ok(None) => return vec![Finding::ok(CHECK, "there is none yet; the first start makes it")],
        Err(error) => {
            let help = "is its address right, does it run, may this user use it?";
            return vec![Finding::problem(CHECK, error.clone(), help)];
        }
    };
    let mut findings = vec![Finding::ok(CHECK, format!("{} answers", inspection.engine))];
    findings.extend(too_old(&inspection.engine));
    findings.push(match (inspection.found, inspection.known) {
        (0, _) => Finding::ok(CHECK, "it has no tables yet; the first start makes them"),
        (found, known) if found == known => Finding::ok(CHECK, format!("its tables are of version {found}")),
        (found, known) if found < known => Finding::warning(
            CHECK,
            format!("its tables are of version {found}; this program brings them to {known} when it starts"),
            "make a backup first: an older program cannot use them any more",
        ),
        (found, known) => Finding::problem(
            CHECK,
            format!("its tables are of version {found}, and this program knows {known}"),
            "use a program that is as new as the one which wrote them",
        ),
    });
    let clock = inspection.clock.map(|at| times::compare("clock", "the database", at.0, 0));
    findings.extend(clock);
    findings
}

fn too_old(engine: &str) -> Option<Finding> {
    let version = engine.strip_prefix("PostgreSQL ")?;
    let major: u32 = version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
    (major < POSTGRES_MIN).then(|| {
        let help = format!("upgrade to PostgreSQL {POSTGRES_MIN} or newer");
        Finding::problem(CHECK, format!("PostgreSQL {major} is too old"), help)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_engines_are_told_from_new_ones() {
        assert!(too_old("PostgreSQL 9.6.24").is_some());
        for fine in ["PostgreSQL 15.8 (Debian 15.8-1)", "PostgreSQL 17devel", "SQLite 3.1"] {
            assert!(too_old(fine).is_none(), "{fine}");
        }
    }
}
