//! `cargo xtask demo`: the product at work on a small example that comes with it.

mod deploy;
mod server;

use std::fs;
use std::path::Path;
use std::process;

use crate::args::Args;
use crate::command::Command;
use crate::failure::{Context as _, Failure, Outcome};
use crate::terminal::{Style, paint};
use crate::workspace::{self, Metadata, Profile};

pub(crate) const COMMAND: Command = Command {
    name: "demo",
    about: "build the product and watch it work on a small example",
    help: "\
Usage: cargo xtask demo

Builds `stoker` and asks a few questions about `examples/cluster.yaml` in YAQL, the language in which any field of a
deployment task can be computed. Then starts a server on embedded defaults, gives it the release, the plugin and the
cluster of `examples/demo`, shows the merged graph, who set what, and what is told about a graph with mistakes; then
plans and runs a deployment on five nodes, changes a setting, and runs what depends on it.
Nothing is installed and nothing outside the target folder is written; the server ends with the demo.
",
    run: |args: Args| {
        args.finish()?;
        run()
    },
};

const DATA: &str = "examples/cluster.yaml";
const HELPERS: &str = "examples/helpers";

/// A question, how to ask it, and whether an answer is expected or a diagnostic.
struct Scene {
    question: &'static str,
    expression: &'static str,
    /// What is asked for beside the data.
    options: &'static [&'static str],
    answers: bool,
}

const SCENES: &[Scene] = &[
    Scene {
        question: "Which nodes run the control plane?",
        expression: r#"$.nodes.where("controller" in $.roles).name"#,
        options: &[],
        answers: true,
    },
    Scene {
        question: "Should the Ceph task run? (a condition as it stands in a task)",
        expression: r#"$.storage.backend = "ceph" and $.nodes.where("ceph-osd" in $.roles).len() >= 3"#,
        options: &[],
        answers: true,
    },
    Scene {
        question: "Who lives in which rack?",
        expression: "$.nodes.orderBy($.name).groupBy($.rack, $.name).toDict($[0], $[1])",
        options: &[],
        answers: true,
    },
    Scene {
        question: "Where does the monitoring look? (with a function of our own, see the helper files)",
        expression: "metricsEndpoints($)",
        options: &["--helpers", HELPERS],
        answers: true,
    },
    Scene {
        question: "Why just this node? (every part of the expression with its values)",
        expression: "$.nodes.where($.cpus > 16 and $.rack = north).name",
        options: &["--explain"],
        answers: true,
    },
    Scene {
        question: "Which data does a condition depend on?",
        expression: r#"$.tls.enabled and $.storage.backend = "ceph""#,
        options: &["--reads"],
        answers: true,
    },
    Scene {
        question: "And what if the expression is wrong?",
        expression: "$.nodes.where($.cpus >= ).name",
        options: &[],
        answers: false,
    },
    Scene {
        question: "Or only a name in it?",
        expression: "$.nodes.where($.cpu > 16).name",
        options: &[],
        answers: false,
    },
];

fn run() -> Outcome {
    let root = workspace::root();
    for path in [DATA, HELPERS] {
        if !root.join(path).exists() {
            return Err(Failure::new(format!("`{path}` is missing; restore it from the history")));
        }
    }
    let metadata = Metadata::load(&root)?;
    let program = metadata.build_stoker(&root, Profile::Dev)?;
    println!();
    println!("{}", paint(Style::Bold, "Stoker: YAQL on a small cluster"));
    println!("The document is {DATA}; each expression reads it as `$`.");
    for scene in SCENES {
        show(&root, &program, scene)?;
    }
    println!();
    with_folder(&metadata.target_dir.join("demo"), |folder| server::run(&root, &program, folder))?;
    println!();
    println!("Try your own:");
    println!("  {} yaql repl --data {DATA}", program.display());
    println!("  {} serve --local-agents", program.display());
    Ok(())
}

/// A folder that is empty before and gone after.
fn with_folder(folder: &Path, work: impl FnOnce(&Path) -> Outcome) -> Outcome {
    // Left by a demo that was interrupted, or not there at all.
    _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).context(format!("cannot create `{}`", folder.display()))?;
    let outcome = work(folder);
    _ = fs::remove_dir_all(folder);
    outcome
}

fn show(root: &Path, program: &Path, scene: &Scene) -> Outcome {
    println!();
    println!("{}", paint(Style::Bold, scene.question));
    let options = scene.options.join(" ");
    let command = format!("$ stoker yaql '{}' --data {DATA} {options}", scene.expression);
    println!("{}", paint(Style::Dim, command.trim_end()));
    let status = process::Command::new(program)
        .current_dir(root)
        .args(["yaql", scene.expression, "--data", DATA])
        .args(scene.options)
        .status()
        .context("cannot start `stoker`")?;
    match (status.success(), scene.answers) {
        (true, true) | (false, false) => Ok(()),
        (false, true) => Err(Failure::new(format!("`stoker yaql` failed ({status})"))),
        (true, false) => Err(Failure::new("`stoker yaql` accepted a wrong expression")),
    }
}
