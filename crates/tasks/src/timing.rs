//! Scheduling defaults of task types.

use stoker_engine::blueprint::TypeDefaults;

use crate::find;
use crate::parameter::ParameterRequirement;
use crate::task_type::TaskType;

/// Returns the timing defaults of a type, which task parameters can override. `None` for an unknown type.
pub fn default_timing(name: &str) -> Option<TypeDefaults> {
    let task_type = find(name)?;
    Some(TypeDefaults {
        runs_on: task_type.runs_on,
        timeout_s: default_of(task_type, "timeout"),
        n_retries: u32::try_from(default_of(task_type, "retries")).unwrap_or(u32::MAX),
        interval_s: default_of(task_type, "interval"),
        is_idempotent: task_type.is_idempotent,
    })
}

/// Returns the default from the parameter table, which is also the source of the reference documentation.
fn default_of(task_type: &TaskType, name: &str) -> u64 {
    let parameter = task_type.parameters.iter().find(|parameter| parameter.name == name);
    match parameter.map(|parameter| parameter.requirement) {
        Some(ParameterRequirement::Default(text)) => text.parse().unwrap_or_default(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use stoker_engine::blueprint::Executor;

    use super::*;

    #[test]
    fn timing_comes_from_the_parameter_table() {
        let timing = |name: &str| {
            let timing = default_timing(name).unwrap();
            (timing.timeout_s, timing.n_retries, timing.interval_s, timing.is_idempotent)
        };
        assert_eq!(timing("shell"), (300, 2, 2, false));
        assert_eq!(timing("puppet"), (5400, 2, 2, true));
        assert_eq!(timing("reboot"), (900, 0, 2, false));
        assert_eq!(default_timing("no such type"), None);
        assert_eq!(default_timing("role"), None);
    }

    #[test]
    fn executed_types_have_a_timeout_and_a_retry_interval() {
        for task_type in crate::all() {
            let timing = default_timing(task_type.name).unwrap();
            assert_eq!(timing.runs_on == Executor::None, task_type.run.is_none(), "{}", task_type.name);
            let is_limited = timing.timeout_s > 0 && timing.interval_s > 0;
            assert_eq!(is_limited, task_type.run.is_some(), "{}", task_type.name);
        }
    }
}
