//! Plugin packages: is one sound, and what does it say?
//!
//! [`check`] judges all files of a package at once, by the rules of its package version, and gives every problem with
//! its file and line. A package without errors is a plugin, ready to be registered. [`skeleton()`] gives the files of a new
//! one.
//!
//! To add a rule, find its file under `rules/`; to add a file, write its rules there and add a row to `files.rs`.

mod files;
mod plugin;
mod problem;
mod rules;
mod shapes;
mod skeleton;
mod tree;
mod version;

use stoker_manifest::{Format, Options, Problems, Severity, parse_with};
use stoker_model::{GraphType, Json, NewPlugin, Task};
use stoker_yaml::{Node, NodeKind, Scalar};

pub use plugin::{folder_name, line_of};
pub use problem::{PackageProblem, codes};
pub use rules::check_release_wizard;
pub use skeleton::{NotAPluginName, SkeletonFile, SkeletonOptions, skeleton};
pub use tree::PackageTree;
pub use version::{PackageVersion, is_plugin_version};

use files::{FILES, Presence};
use plugin::Documents;

/// What a package says.
#[derive(Clone, Debug, PartialEq)]
pub struct Package {
    pub plugin: NewPlugin,
    pub graphs: Vec<(GraphType, Vec<Task>)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// By file, then in the order of its text.
    pub problems: Vec<PackageProblem>,
    /// There unless there is an error.
    pub package: Option<Package>,
}

/// How strictly a package is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckOptions {
    /// Whether a key given twice is an error; it is a warning for plugins that were installed by a laxer reader.
    pub strict_keys: bool,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self { strict_keys: true }
    }
}

/// What rules may look at besides the document they judge.
#[derive(Clone, Copy)]
pub(crate) struct Context<'t> {
    /// The text of the file.
    pub(crate) text: &'t str,
    pub(crate) version: PackageVersion,
    pub(crate) tree: &'t PackageTree,
}

/// Judges a package: all files, all problems.
pub fn check(tree: &PackageTree, options: CheckOptions) -> Checked {
    let version = files::package_version(tree);
    let mut documents = Documents::default();
    let mut problems = Vec::new();
    for file in FILES {
        // Without its version nothing is known about a package but that it needs metadata.
        let presence = match version {
            Some(version) => (file.presence)(version),
            None if file.name == files::METADATA => Presence::Required,
            None => Presence::NotRead,
        };
        let version = version.unwrap_or(PackageVersion::V1);
        match (tree.texts.get(file.name), presence) {
            (_, Presence::NotRead) | (None, Presence::Optional) => {}
            (None, Presence::Required) => problems.push(missing(file.name, version)),
            (Some(text), _) => {
                let context = Context { text, version, tree };
                problems.extend(judge(file, context, options, &mut documents));
            }
        }
    }
    problems.sort_by(|a, b| {
        let place = |problem: &PackageProblem| problem.span.map(|span| span.start.offset);
        a.file.cmp(&b.file).then_with(|| place(a).cmp(&place(b)))
    });
    let is_sound = problems.iter().all(|problem| problem.severity != Severity::Error);
    let package = if is_sound { plugin::build(documents) } else { None };
    Checked { problems, package }
}

fn missing(name: &str, version: PackageVersion) -> PackageProblem {
    let message = if name == files::METADATA {
        "there is no such file; every plugin has one".to_owned()
    } else {
        format!("there is no such file; packages of version {} have one", version.as_str())
    };
    PackageProblem::of_file(name, codes::FILE_MISSING, message)
}

fn judge(
    file: &files::PackageFile,
    context: Context<'_>,
    options: CheckOptions,
    documents: &mut Documents,
) -> Vec<PackageProblem> {
    let options = Options { strict_keys: options.strict_keys, ..Options::default() };
    let parsed = parse_with(context.text, Format::Yaml, &options);
    let has_syntax_errors = parsed
        .problems
        .iter()
        .any(|problem| problem.code != stoker_manifest::codes::EMPTY && problem.severity == Severity::Error);
    if is_empty(parsed.node.as_ref()) && !has_syntax_errors {
        if file.may_be_empty(context.version) {
            return Vec::new();
        }
        let mut problem = PackageProblem::of_file(file.name, codes::FILE_EMPTY, "the file is empty");
        problem.help =
            Some("write what belongs into it, or remove it if the package can do without".to_owned());
        return vec![problem];
    }
    let mut problems = Problems::after(parsed.problems);
    if let Some(node) = &parsed.node {
        (file.check)(node, context, documents, &mut problems);
        keep(file.name, node, documents, &mut problems);
    }
    let problems = problems.into_vec().into_iter();
    let is_graph = file.name == files::GRAPH_TASKS;
    let refined =
        problems.filter_map(|problem| if is_graph { rules::refined(problem) } else { Some(problem) });
    refined.map(|problem| PackageProblem::new(file.name, problem)).collect()
}

/// Keeps a document that is as it should be; what JSON cannot say is a problem, too.
fn keep(name: &'static str, node: &Node, documents: &mut Documents, problems: &mut Problems) {
    if !problems.has_errors() {
        let document = stoker_manifest::reader::json(node, problems);
        documents.by_file.extend(document.map(|document: Json| (name, document)));
    }
}

fn is_empty(node: Option<&Node>) -> bool {
    node.is_none_or(|node| matches!(node.kind, NodeKind::Scalar(Scalar::Null)))
}
