//! `cargo xtask demo`: builds `stoker` and runs it on the bundled example.

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
    about: "build `stoker` and run it on the bundled example",
    help: "\
Usage: cargo xtask demo [--keep]

Builds `stoker` and evaluates YAQL expressions on `examples/cluster.yaml`; any field of a deployment task can be such an
expression. Then runs `stoker demo`: a server with embedded defaults, a release with a wizard, two plugins, a cluster of
five nodes; a plan, a deployment, a changed setting, and a deployment of the affected tasks. Builds the web UI first if
Node is installed. The server and its data are deleted at the end.

  --keep    Keep the server running and print how to open and how to stop it
",
    run: |mut args: Args| {
        let keep = args.flag("--keep");
        args.finish()?;
        run(keep)
    },
};

const DATA: &str = "examples/cluster.yaml";
const HELPERS: &str = "examples/helpers";

/// An expression of the demo.
struct Scene {
    question: &'static str,
    expression: &'static str,
    /// Further options of `stoker yaql`.
    options: &'static [&'static str],
    /// Whether the expected output is a result; otherwise it is a diagnostic.
    is_valid: bool,
}

const SCENES: &[Scene] = &[
    Scene {
        question: "Which nodes run the control plane?",
        expression: r#"$.nodes.where("controller" in $.roles).name"#,
        options: &[],
        is_valid: true,
    },
    Scene {
        question: "Should the Ceph task run? (the condition of a task)",
        expression: r#"$.storage.backend = "ceph" and $.nodes.where("ceph-osd" in $.roles).len() >= 3"#,
        options: &[],
        is_valid: true,
    },
    Scene {
        question: "Which nodes are in which rack?",
        expression: "$.nodes.orderBy($.name).groupBy($.rack, $.name).toDict($[0], $[1])",
        options: &[],
        is_valid: true,
    },
    Scene {
        question: "Which endpoints are monitored? (with a function defined in the helper files)",
        expression: "metricsEndpoints($)",
        options: &["--helpers", HELPERS],
        is_valid: true,
    },
    Scene {
        question: "Why this node? (the value of every subexpression)",
        expression: "$.nodes.where($.cpus > 16 and $.rack = north).name",
        options: &["--explain"],
        is_valid: true,
    },
    Scene {
        question: "Which data does a condition depend on?",
        expression: r#"$.tls.enabled and $.storage.backend = "ceph""#,
        options: &["--reads"],
        is_valid: true,
    },
    Scene {
        question: "What does a syntax error look like?",
        expression: "$.nodes.where($.cpus >= ).name",
        options: &[],
        is_valid: false,
    },
    Scene {
        question: "What does an unknown key look like?",
        expression: "$.nodes.where($.cpu > 16).name",
        options: &[],
        is_valid: false,
    },
];

fn run(keep: bool) -> Outcome {
    let root = workspace::root();
    for path in [DATA, HELPERS] {
        if !root.join(path).exists() {
            return Err(Failure::new(format!("`{path}` is missing; restore it with `git checkout`")));
        }
    }
    if let Err(failure) = ui::build(&root) {
        println!("{} {failure}", paint(Style::Notice, "continuing without the web UI:"));
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
    println!("Next steps:");
    println!("  {} yaql repl --data {DATA}", program.display());
    println!("  {} demo --keep", program.display());
    println!("  {} serve --local-agents", program.display());
    println!("  and open the printed address in a browser");
    Ok(())
}

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
    match (status.success(), scene.is_valid) {
        (true, true) | (false, false) => Ok(()),
        (false, true) => Err(Failure::new(format!("`stoker yaql` failed ({status})"))),
        (true, false) => Err(Failure::new("`stoker yaql` accepted an invalid expression")),
    }
}
