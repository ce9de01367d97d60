//! `cargo xtask demo`: the product at work on a small example that comes with it.

use std::path::Path;
use std::process;

use crate::args::Args;
use crate::command::Command;
use crate::failure::{Context as _, Failure, Outcome};
use crate::terminal::{Style, paint};
use crate::ui;
use crate::workspace::{self, Metadata, Profile};

pub(crate) const COMMAND: Command = Command {
    name: "demo",
    about: "build the product and watch it work on a small example",
    help: "\
Usage: cargo xtask demo [--keep]

Builds `stoker` and asks a few questions about `examples/cluster.yaml` in YAQL, the language in which any field of a
deployment task can be computed. Then runs `stoker demo`: a server on embedded defaults, a release with a wizard, two
plugins, a cluster of five nodes; a plan, a deployment, a changed setting, and a deployment of what depends on it.
With Node at hand the web interface is built first. Nothing else is installed; the server and its data are gone at the
end.

  --keep    leave the server running, and tell how to look at it and how to end it
",
    run: |mut args: Args| {
        let keep = args.flag("--keep");
        args.finish()?;
        run(keep)
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

fn run(keep: bool) -> Outcome {
    let root = workspace::root();
    for path in [DATA, HELPERS] {
        if !root.join(path).exists() {
            return Err(Failure::new(format!("`{path}` is missing; restore it from the history")));
        }
    }
    if let Err(failure) = ui::build(&root) {
        println!("{} {failure}", paint(Style::Notice, "without the web interface:"));
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
    deploy(&program, keep)?;
    println!();
    println!("Try your own:");
    println!("  {} yaql repl --data {DATA}", program.display());
    println!("  {} demo --keep", program.display());
    println!("  {} serve --local-agents", program.display());
    println!("  and open the address that it tells: the web interface is there");
    Ok(())
}

/// The product shows itself.
fn deploy(program: &Path, keep: bool) -> Outcome {
    let mut command = process::Command::new(program);
    command.arg("demo").args(keep.then_some("--keep"));
    let status = command.status().context("cannot start `stoker`")?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("`stoker demo` failed ({status})"))) }
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
