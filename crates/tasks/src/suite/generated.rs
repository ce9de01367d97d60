//! The laws of resources on generated states of a host.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proptest::prelude::*;
use stoker_engine::session::Mode;

use super::cases::{Case, all};
use super::fake::{FakeContent, FakeEntry, FakeUnit, Script};
use super::laws::{converges, converges_after_deaths};
use crate::host::UnitState;

/// Types whose changes the fake host models completely. The others need programs, which are scripted for one state.
const MODELLED: &[&str] = &[
    "archive",
    "copy_files",
    "directory",
    "file",
    "line",
    "link",
    "repository",
    "service",
    "sysctl",
    "systemd_unit",
    "upload_file",
    "upload_files",
];

/// What is changed at a path of the host before the attempt.
#[derive(Clone, Debug)]
enum Disturbance {
    None,
    Removed,
    Data(&'static str),
    Directory,
    Link(&'static str),
    Permissions(u32),
    Owner(&'static str),
}

fn disturbance() -> impl Strategy<Value = Disturbance> {
    prop_oneof![
        3 => Just(Disturbance::None),
        2 => Just(Disturbance::Removed),
        2 => prop_oneof![Just(""), Just("x"), Just("a\n"), Just("# BEGIN STOKER MANAGED BLOCK\ny\n")].prop_map(Disturbance::Data),
        1 => Just(Disturbance::Directory),
        1 => Just(Disturbance::Link("/elsewhere")),
        1 => prop_oneof![Just(0o600), Just(0o4755)].prop_map(Disturbance::Permissions),
        1 => prop_oneof![Just("ada"), Just("root")].prop_map(Disturbance::Owner),
    ]
}

fn unit() -> impl Strategy<Value = UnitState> {
    let load = prop_oneof![3 => Just("loaded"), 1 => Just("masked")];
    let active = prop_oneof![Just("active"), Just("inactive"), Just("failed"), Just("activating")];
    let file =
        prop_oneof![Just("enabled"), Just("disabled"), Just("static"), Just("enabled-runtime"), Just("")];
    (load, active, file, any::<bool>()).prop_map(|(load, active, file, needs_reload)| UnitState {
        load: load.to_owned(),
        active: active.to_owned(),
        file: if load == "masked" { "masked".to_owned() } else { file.to_owned() },
        needs_reload,
    })
}

fn disturb(script: &mut Script, path: &Path, disturbance: &Disturbance) {
    let mut replace = |content| _ = script.files.insert(path.to_owned(), FakeEntry::new(content));
    match disturbance {
        Disturbance::None => {}
        Disturbance::Removed => _ = script.files.remove(path),
        Disturbance::Data(data) => replace(FakeContent::File(data.as_bytes().to_vec())),
        Disturbance::Directory => replace(FakeContent::Directory),
        Disturbance::Link(target) => replace(FakeContent::Link((*target).into())),
        Disturbance::Permissions(permissions) => {
            script.files.entry(path.to_owned()).and_modify(|entry| entry.permissions = *permissions);
        }
        Disturbance::Owner(user) => {
            script.files.entry(path.to_owned()).and_modify(|entry| (*user).clone_into(&mut entry.user));
        }
    }
}

/// Paths that a case reads or writes, except those that say what kind of host it is.
fn paths(case: &Case) -> Vec<PathBuf> {
    let (_, log) = case.run_on(case.script(), Mode::Normal);
    let before = case.script().files;
    let all: BTreeSet<PathBuf> = before.into_keys().chain(log.files.lock().keys().cloned()).collect();
    let is_fixed = |path: &PathBuf| path.starts_with("/usr/bin") || path.starts_with("/proc/sys");
    all.into_iter().filter(|path| !is_fixed(path)).collect()
}

fn check_laws(case: &Case, script: &Script) {
    let name = case.name();
    let (dry, calls, _) = case.run(script.clone(), Mode::Noop);
    assert!(calls.is_empty(), "a check of {name} changes something: {calls:?}");
    let (done, log) = case.run_on(script.clone(), Mode::Normal);
    let (Ok(dry), Ok(done)) = (&dry, &done) else {
        // A state that the type does not change, such as a directory in place of a file. The dry run says so as well.
        assert_eq!(dry.is_err(), done.is_err(), "{name}: {dry:?} {done:?}");
        assert!(log.calls.lock().is_empty(), "{name} changes something before it fails: {done:?}");
        return;
    };
    assert_eq!((dry.changed, &dry.diff), (done.changed, &done.diff), "{name}");
    assert_eq!(done.changed, Some(!log.calls.lock().is_empty()), "{name}");
    let (second, calls, _) = case.run(script.clone().after(&log), Mode::Normal);
    let second = second.unwrap();
    assert_eq!((second.changed, second.diff, calls), (Some(false), vec![], vec![]), "{name}");
    converges_after_deaths(case, script);
}

static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let is_modelled =
        |case: &Case| MODELLED.contains(&case.task_type) && converges(case) && case.mode() == Mode::Normal;
    all().into_iter().filter(is_modelled).collect()
});

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn laws_hold_in_generated_states(
        choice in any::<prop::sample::Index>(),
        disturbances in prop::collection::vec(disturbance(), 6),
        state in unit(),
        has_unit in any::<bool>(),
    ) {
        let case = choice.get(CASES.as_slice());
        let mut script = case.script();
        for (path, disturbance) in paths(case).iter().zip(&disturbances) {
            disturb(&mut script, path, disturbance);
        }
        if has_unit {
            for unit in script.units.values_mut() {
                *unit = FakeUnit { state: state.clone(), fails: false };
            }
        }
        check_laws(case, &script);
    }
}
