//! What can only be judged when all definitions are known: names, bodies, calls.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use stoker_yaml::{Node, Span, place_in};
use stoker_yaql::eval::suggest;
use stoker_yaql::library::Purity;
use stoker_yaql::lint::{self, Call, Hint, Outline, outline};
use stoker_yaql::{Engine, Error, Library};

use crate::HelperFile;
use crate::definition::Definition;
use crate::problem::{Problem, codes};

/// What the first look at all definitions found out.
pub(crate) struct Checked {
    /// Beside each definition, what its body does; none if it is no expression.
    pub(crate) outlines: Vec<Option<Outline>>,
    impure: BTreeSet<usize>,
}

impl Checked {
    pub(crate) fn is_impure(&self, definition_idx: usize) -> bool {
        self.impure.contains(&definition_idx)
    }
}

pub(crate) fn check(
    files: &[HelperFile<'_>],
    definitions: &mut [Definition],
    base: &Arc<Library>,
    problems: &mut Vec<Problem>,
) -> Checked {
    check_names(files, definitions, base, problems);
    let engine = Engine::new(base.clone());
    let mut outlines = Vec::new();
    for definition in definitions.iter_mut() {
        let file = &files[definition.file_idx];
        let body = definition.body.as_str().unwrap_or_default();
        match engine.compile(body) {
            Ok(expression) => outlines.push(Some(outline(&expression.program().tree))),
            Err(error) => {
                problems.push(expression_problem(file, &definition.body, &error, codes::BODY));
                definition.is_sound = false;
                outlines.push(None);
            }
        }
    }
    let impure = impure(definitions, &outlines, base);
    Checked { outlines, impure }
}

/// A problem that the language has with an expression, shown where the expression is written.
pub(crate) fn expression_problem(
    file: &HelperFile<'_>,
    node: &Node,
    error: &Error,
    code: &'static str,
) -> Problem {
    let span = match error.span {
        Some(span) => place_in(node, file.text, range(span)),
        None => node.span,
    };
    Problem::error(file.name, span, code, error.short_message()).help(error.help.clone())
}

pub(crate) fn range(span: stoker_yaql::Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

/// Names given twice, and names that the library has.
fn check_names(
    files: &[HelperFile<'_>],
    definitions: &mut [Definition],
    base: &Library,
    problems: &mut Vec<Problem>,
) {
    let mut first_of: HashMap<Arc<str>, (usize, Span)> = HashMap::new();
    for definition in definitions {
        let file = files[definition.file_idx].name;
        let (name, span) = (definition.name.clone(), definition.name_span);
        if let Some((first_file_idx, first_span)) = first_of.get(&name) {
            let problem = Problem::error(file, span, codes::DUPLICATE, format!("`{name}` is defined twice"));
            problems.push(problem.related(
                files[*first_file_idx].name,
                *first_span,
                "the first definition is here",
            ));
            definition.is_sound = false;
        } else {
            first_of.insert(name.clone(), (definition.file_idx, span));
        }
        let problem = match (base.get(&name).is_some(), definition.overrides) {
            (true, None) => {
                Problem::error(file, span, codes::OVERRIDE, format!("the library has `{name}` already"))
                    .help("choose another name, or say `override: true` to replace it everywhere".to_owned())
            }
            (true, Some(flag)) if definition.doc.is_empty() => Problem::error(
                file,
                flag,
                codes::OVERRIDE,
                format!("`{name}` replaces a function of the library without a word"),
            )
            .help("add `doc` and say what is different".to_owned()),
            (false, Some(flag)) => Problem::warning(
                file,
                flag,
                codes::OVERRIDE,
                format!("the library has no `{name}` to override"),
            ),
            _ => continue,
        };
        definition.is_sound &= problem.severity == crate::Severity::Warning;
        problems.push(problem);
    }
}

/// The definitions whose result depends on more than their arguments, however indirectly.
fn impure(definitions: &[Definition], outlines: &[Option<Outline>], base: &Library) -> BTreeSet<usize> {
    let is_impure_in_library = |call: &Call| {
        let overloads = base.get(&call.name).into_iter().flat_map(|entry| entry.layers(call.is_method));
        overloads.flatten().any(|overload| overload.function.doc().purity == Purity::Impure)
    };
    let mut impure = BTreeSet::new();
    loop {
        let names: BTreeSet<&str> = impure.iter().map(|idx: &usize| &*definitions[*idx].name).collect();
        let depends = |outline: &Outline| {
            outline.has_computed_names
                || outline.calls.iter().any(|call| names.contains(&*call.name) || is_impure_in_library(call))
        };
        let found: BTreeSet<usize> =
            (0..definitions.len()).filter(|idx| outlines[*idx].as_ref().is_some_and(depends)).collect();
        if found == impure {
            return found;
        }
        impure = found;
    }
}

/// Calls of what does not exist, and variables that nothing binds.
pub(crate) fn check_calls(
    files: &[HelperFile<'_>],
    definitions: &[Definition],
    checked: &Checked,
    library: &Library,
    problems: &mut Vec<Problem>,
) {
    for (definition, outline) in definitions.iter().zip(&checked.outlines) {
        let Some(outline) = outline else { continue };
        let file = &files[definition.file_idx];
        problems.extend(unknown_calls(file, &definition.body, outline, library));
        problems.extend(variables(file, definition, outline));
    }
}

pub(crate) fn unknown_calls(
    file: &HelperFile<'_>,
    node: &Node,
    outline: &Outline,
    library: &Library,
) -> Vec<Problem> {
    let problem = |hint: Hint| {
        let span = place_in(node, file.text, range(hint.span));
        Problem::error(file.name, span, codes::UNKNOWN_FUNCTION, hint.message).help(hint.help)
    };
    lint::unknown_calls(outline, library).into_iter().map(problem).collect()
}

fn variables(file: &HelperFile<'_>, definition: &Definition, outline: &Outline) -> Vec<Problem> {
    let mut problems = Vec::new();
    let names: Vec<&str> = definition.parameters.iter().map(|parameter| &*parameter.name).collect();
    // Groups of a regular expression become variables too.
    let has_groups = definition.body.as_str().is_some_and(|body| body.contains("(?P<"));
    for (name, span) in &outline.reads {
        let is_bound = names.contains(&name.as_str()) || outline.bound.contains(name);
        if is_bound || outline.has_computed_names || has_groups {
            continue;
        }
        let span = place_in(&definition.body, file.text, range(*span));
        let help =
            suggest::closest(name, names.iter().copied()).map(|best| format!("did you mean `${best}`?"));
        let message = format!("nothing sets `${name}`, so it is null");
        problems.push(Problem::warning(file.name, span, codes::VARIABLE, message).help(help));
    }
    for (parameter_idx, parameter) in definition.parameters.iter().enumerate() {
        let is_read = outline.reads.iter().any(|(name, _)| *name == *parameter.name)
            || (parameter_idx == 0 && outline.reads_first)
            || outline.has_computed_names;
        if !is_read {
            let message = format!("the body does not read `{}`", parameter.name);
            problems.push(Problem::warning(file.name, parameter.span, codes::VARIABLE, message));
        }
    }
    problems
}
