//! Runs the steps in two lanes.
//!
//! The main lane compiles and runs the test suites, with live output. The side lane runs the steps that
//! neither compile nor feed a later step; on two cores they fill the time in which a link step or a waiting
//! test leaves a core idle. The output of a side step is printed when the step ends. Side steps that run the
//! program wait for the build.

use std::fs::{self, File};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Instant;

use parking_lot::{Condvar, Mutex};

use super::report::{Report, Verdict};
use super::steps::{Lane, Step};
use super::{Cx, Done};
use crate::terminal::{Style, paint, print_line, redirect};

/// A step that was selected, and why it does not run if it was excluded.
pub(super) struct Selected {
    pub(super) step: &'static Step,
    pub(super) excluded: Option<String>,
}

/// Runs all selected steps and returns their results in the order of the list.
pub(super) fn run_all(cx: &Cx, selected: &[Selected], is_serial: bool) -> Report {
    let schedule = Schedule {
        cx,
        results: Mutex::new(Report::default()),
        build: Mutex::new(if selected.iter().any(is_build) { Build::Pending } else { Build::Done }),
        build_changed: Condvar::new(),
    };
    let in_lane = |lane: Lane| selected.iter().filter(move |selected| selected.step.lane == lane);
    if is_serial {
        schedule.run_lane(selected.iter());
    } else {
        thread::scope(|scope| {
            scope.spawn(|| schedule.run_redirected(in_lane(Lane::Side)));
            schedule.run_lane(in_lane(Lane::Main));
        });
    }
    let mut report = schedule.results.into_inner();
    report.sort_by(|name| selected.iter().position(|selected| selected.step.name == name));
    report
}

fn is_build(selected: &Selected) -> bool {
    selected.step.is_build && selected.excluded.is_none()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Build {
    Pending,
    Done,
    Failed,
}

struct Schedule<'a> {
    cx: &'a Cx,
    results: Mutex<Report>,
    build: Mutex<Build>,
    build_changed: Condvar,
}

impl Schedule<'_> {
    fn run_lane<'s>(&self, lane: impl Iterator<Item = &'s Selected>) {
        for selected in lane {
            self.run_one(selected);
        }
    }

    /// Runs a lane with its output in a file per step, printed when the step ends.
    fn run_redirected<'s>(&self, lane: impl Iterator<Item = &'s Selected>) {
        let folder = self.cx.metadata.target_dir.join("test-logs");
        // Without the directory, the output is live and may mix with the output of the main lane.
        drop(fs::create_dir_all(&folder));
        for selected in lane {
            let path = folder.join(format!("{}.log", selected.step.name));
            redirect(File::create(&path).ok());
            self.run_one(selected);
            redirect(None);
            print!("{}", fs::read_to_string(&path).unwrap_or_default());
        }
    }

    fn run_one(&self, selected: &Selected) {
        let step = selected.step;
        let verdict = match &selected.excluded {
            Some(reason) => Some(Verdict::Skipped(reason.clone())),
            None => (step.needs_build && self.wait_for_build() == Build::Failed)
                .then(|| Verdict::Skipped("the build failed".to_owned())),
        };
        let started = Instant::now();
        let verdict = verdict.unwrap_or_else(|| {
            print_line(&format!("\n{}", paint(Style::Bold, &format!("── {}: {}", step.name, step.about))));
            run_step(step, self.cx)
        });
        if step.is_build {
            let has_failed = matches!(verdict, Verdict::Failed(_));
            self.finish_build(if has_failed { Build::Failed } else { Build::Done });
        }
        let mut results = self.results.lock();
        results.push(step.name, verdict, started.elapsed());
    }

    fn finish_build(&self, state: Build) {
        *self.build.lock() = state;
        self.build_changed.notify_all();
    }

    fn wait_for_build(&self) -> Build {
        let mut build = self.build.lock();
        self.build_changed.wait_while(&mut build, |build| *build == Build::Pending);
        *build
    }
}

/// Runs a step. A panic of a step is a failure of that step: the other lane must not wait for it forever.
fn run_step(step: &Step, cx: &Cx) -> Verdict {
    match catch_unwind(AssertUnwindSafe(|| (step.run)(cx))) {
        Ok(Ok(Done::Passed)) => Verdict::Passed,
        Ok(Ok(Done::Skipped(reason))) => Verdict::Skipped(reason),
        Ok(Err(failure)) => {
            print_line(&format!("{} {failure}", paint(Style::Bad, "failed:")));
            Verdict::Failed(failure.to_string())
        }
        Err(_) => Verdict::Failed("the step panicked".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Failure;

    const fn step(name: &'static str, lane: Lane, run: fn(&Cx) -> crate::failure::Outcome<Done>) -> Step {
        Step { name, about: "", lane, is_build: false, needs_build: false, is_fast: false, run }
    }

    static FAILING_BUILD: Step =
        Step { is_build: true, ..step("build", Lane::Main, |_| Err(Failure::new("no compiler"))) };
    static BUILD: Step = Step { is_build: true, ..step("build", Lane::Main, |_| Ok(Done::Passed)) };
    static BESIDE: Step = Step { needs_build: true, ..step("beside", Lane::Side, |_| Ok(Done::Passed)) };
    static PANIC: Step = step("panic", Lane::Side, |_| panic!("a bug"));

    fn outcome(steps: &[&'static Step], is_serial: bool) -> Vec<(&'static str, String)> {
        let cx = Cx::of_test();
        let selected: Vec<Selected> = steps.iter().map(|step| Selected { step, excluded: None }).collect();
        let report = run_all(&cx, &selected, is_serial);
        report.rows().map(|(name, verdict)| (name, verdict.to_string())).collect()
    }

    #[test]
    fn results_are_in_the_order_of_the_list() {
        for is_serial in [false, true] {
            let rows = outcome(&[&BUILD, &BESIDE], is_serial);
            assert_eq!(rows, [("build", "ok".to_owned()), ("beside", "ok".to_owned())]);
        }
    }

    #[test]
    fn failed_build_skips_the_steps_that_need_it() {
        let rows = outcome(&[&FAILING_BUILD, &BESIDE], false);
        assert_eq!(rows[0].1, "failed: no compiler");
        assert_eq!(rows[1].1, "skipped: the build failed");
    }

    #[test]
    fn without_a_build_step_nothing_waits() {
        assert_eq!(outcome(&[&BESIDE], false), [("beside", "ok".to_owned())]);
    }

    #[test]
    fn panicking_step_fails() {
        assert_eq!(outcome(&[&PANIC], false)[0].1, "failed: the step panicked");
    }
}
