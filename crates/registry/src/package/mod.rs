//! Plugin packages: validation and conversion.
//!
//! [`check`] validates all files of a package by the rules of its package version and reports every problem
//! with file and line. A package without errors is converted to a plugin. [`skeleton()`] generates the files
//! of a new package.
//!
//! To add a rule, edit the module of its file under `rules/`. To add a file, add its rules there and a row to
//! `files.rs`.

mod diagnostic;
mod files;
mod plugin;
mod rules;
mod shapes;
mod skeleton;
mod tree;
mod version;

use stoker_diagnostics::{Diagnostic, Diagnostics, has_errors, sort};
use stoker_manifest::{Format, ParseOptions, parse_with};
use stoker_model::{GraphType, Json, NewPlugin, Task};
use stoker_yaml::{Node, NodeKind, Scalar};

pub use diagnostic::codes;
pub use plugin::{folder_name, version_line};
pub use rules::check_wizard;
pub use shapes::warn_about_placeholders;
pub use skeleton::{InvalidPluginName, SkeletonFile, SkeletonOptions, skeleton};
pub use tree::PackageTree;
pub use version::{PackageVersion, describe_other_product, is_plugin_version, releases_of_other_products};

use files::{FILES, Presence};
use plugin::Documents;

/// Content of a valid package.
#[derive(Clone, Debug, PartialEq)]
pub struct Package {
    pub plugin: NewPlugin,
    pub graphs: Vec<(GraphType, Vec<Task>)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CheckResult {
    /// Problems, sorted by file and position.
    pub problems: Vec<Diagnostic>,
    /// The package; `None` if there are errors.
    pub package: Option<Package>,
}

/// Strictness of the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackageCheckOptions {
    /// Whether duplicate keys are errors. They are warnings for plugins that were installed by a less strict
    /// version.
    pub strict_keys: bool,
}

impl Default for PackageCheckOptions {
    fn default() -> Self {
        Self { strict_keys: true }
    }
}

/// Input of the rules in addition to the document.
#[derive(Clone, Copy)]
pub(crate) struct Context<'t> {
    /// Text of the file.
    pub(crate) text: &'t str,
    pub(crate) version: PackageVersion,
    pub(crate) tree: &'t PackageTree,
}

/// Validates all files of a package and reports all problems.
pub fn check(tree: &PackageTree, options: PackageCheckOptions) -> CheckResult {
    let version = files::package_version(tree);
    let mut documents = Documents::default();
    let mut problems = Vec::new();
    for file in FILES {
        // Without a package version only the metadata can be checked.
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
                problems.extend(check_file(file, context, options, &mut documents));
            }
        }
    }
    sort(&mut problems);
    let package = if has_errors(&problems) { None } else { plugin::build(documents) };
    CheckResult { problems, package }
}

fn missing(name: &str, version: PackageVersion) -> Diagnostic {
    let message = if name == files::METADATA {
        "required file is missing".to_owned()
    } else {
        format!("required file is missing; packages of version {} must have it", version.as_str())
    };
    Diagnostic::error(codes::FILE_MISSING, message).in_file(name)
}

fn check_file(
    file: &files::PackageFile,
    context: Context<'_>,
    options: PackageCheckOptions,
    documents: &mut Documents,
) -> Vec<Diagnostic> {
    let options = ParseOptions { strict_keys: options.strict_keys, ..ParseOptions::default() };
    let parsed = parse_with(context.text, Format::Yaml, &options);
    let has_syntax_errors = parsed
        .problems
        .iter()
        .any(|problem| problem.code != stoker_manifest::codes::EMPTY && problem.is_error());
    if is_empty(parsed.node.as_ref()) && !has_syntax_errors {
        if file.may_be_empty(context.version) {
            return Vec::new();
        }
        let problem = Diagnostic::error(codes::FILE_EMPTY, "the file is empty").in_file(file.name);
        return vec![problem.help("add content, or remove the file if it is optional")];
    }
    let mut problems = Diagnostics::after(parsed.problems);
    if let Some(node) = &parsed.node {
        (file.check)(node, context, documents, &mut problems);
        store_document(file.name, node, documents, &mut problems);
    }
    let problems = problems.into_vec().into_iter();
    let is_graph = file.name == files::GRAPH_TASKS;
    let problems =
        problems.filter_map(|problem| if is_graph { rules::refine(problem) } else { Some(problem) });
    problems.map(|problem| diagnostic::in_package(file.name, problem)).collect()
}

/// Stores a document without errors. Values that JSON cannot represent are reported.
fn store_document(name: &'static str, node: &Node, documents: &mut Documents, problems: &mut Diagnostics) {
    if !problems.has_errors() {
        let document = stoker_manifest::reader::json(node, problems);
        documents.by_file.extend(document.map(|document: Json| (name, document)));
    }
}

fn is_empty(node: Option<&Node>) -> bool {
    node.is_none_or(|node| matches!(node.kind, NodeKind::Scalar(Scalar::Null)))
}
