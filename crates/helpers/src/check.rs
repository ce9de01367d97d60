//! Checks that need all definitions: duplicate names, bodies, calls, variables.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use stoker_diagnostics::Diagnostic;
use stoker_yaml::{Node, Span, locate_in_scalar};
use stoker_yaql::eval::suggest;
use stoker_yaql::library::Purity;
use stoker_yaql::lint::{self, Call, Hint, Outline, outline};
use stoker_yaql::{Engine, Error, Library};

use crate::HelperFile;
use crate::codes;
use crate::definition::Definition;

/// Result of the analysis of all bodies.
pub(crate) struct Analysis {
    /// Outline of each definition's body, in the order of the definitions; `None` if the body does not parse.
    pub(crate) outlines: Vec<Option<Outline>>,
    impure: BTreeSet<usize>,
}

impl Analysis {
    pub(crate) fn is_impure(&self, definition_idx: usize) -> bool {
        self.impure.contains(&definition_idx)
    }
}

pub(crate) fn check(
    files: &[HelperFile<'_>],
    definitions: &mut [Definition],
    base: &Arc<Library>,
    problems: &mut Vec<Diagnostic>,
) -> Analysis {
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
                definition.is_valid = false;
                outlines.push(None);
            }
        }
    }
    let impure = impure(definitions, &outlines, base);
    Analysis { outlines, impure }
}

/// Converts an expression error to a problem at the position of the expression in the file.
pub(crate) fn expression_problem(
    file: &HelperFile<'_>,
    node: &Node,
    error: &Error,
    code: &'static str,
) -> Diagnostic {
    let span = match error.span {
        Some(span) => locate_in_scalar(node, file.text, range(span)),
        None => node.span,
    };
    Diagnostic::error(code, error.short_message()).in_file(file.name).at(span).help_if(error.help.clone())
}

pub(crate) fn range(span: stoker_yaql::Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

/// Reports duplicate names and names that conflict with the library.
fn check_names(
    files: &[HelperFile<'_>],
    definitions: &mut [Definition],
    base: &Library,
    problems: &mut Vec<Diagnostic>,
) {
    let mut first_definitions: HashMap<Arc<str>, (usize, Span)> = HashMap::new();
    for definition in definitions {
        let file = files[definition.file_idx].name;
        let (name, span) = (definition.name.clone(), definition.name_span);
        if let Some((first_file_idx, first_span)) = first_definitions.get(&name) {
            let problem = Diagnostic::error(codes::DUPLICATE, format!("`{name}` is defined twice"))
                .in_file(file)
                .at(span);
            problems.push(problem.related_in(files[*first_file_idx].name, *first_span, "first defined here"));
            definition.is_valid = false;
        } else {
            first_definitions.insert(name.clone(), (definition.file_idx, span));
        }
        let problem = match (base.get(&name).is_some(), definition.overrides) {
            (true, None) => Diagnostic::error(
                codes::OVERRIDE,
                format!("`{name}` is already a function of the standard library"),
            )
            .in_file(file)
            .at(span)
            .help("choose another name, or set `override: true` to replace it everywhere"),
            (true, Some(flag_span)) if definition.doc.is_empty() => Diagnostic::error(
                codes::OVERRIDE,
                format!("`{name}` overrides a library function without documentation"),
            )
            .in_file(file)
            .at(flag_span)
            .help("add `doc` and describe the difference"),
            (false, Some(flag_span)) => Diagnostic::warning(
                codes::OVERRIDE,
                format!("`override` has no effect: the library has no function `{name}`"),
            )
            .in_file(file)
            .at(flag_span),
            _ => continue,
        };
        definition.is_valid &= !problem.is_error();
        problems.push(problem);
    }
}

/// Definitions whose result depends on more than their arguments, directly or through calls. Fixed-point
/// iteration.
fn impure(definitions: &[Definition], outlines: &[Option<Outline>], base: &Library) -> BTreeSet<usize> {
    let is_impure_in_library = |call: &Call| {
        let overloads = base.get(&call.name).into_iter().flat_map(|entry| entry.layers(call.is_method));
        overloads.flatten().any(|overload| overload.function.doc().purity == Purity::Impure)
    };
    let mut impure = BTreeSet::new();
    loop {
        let names: BTreeSet<&str> = impure.iter().map(|idx: &usize| &*definitions[*idx].name).collect();
        let is_impure = |outline: &Outline| {
            outline.has_computed_names
                || outline.calls.iter().any(|call| names.contains(&*call.name) || is_impure_in_library(call))
        };
        let next: BTreeSet<usize> =
            (0..definitions.len()).filter(|idx| outlines[*idx].as_ref().is_some_and(is_impure)).collect();
        if next == impure {
            return next;
        }
        impure = next;
    }
}

/// Reports calls of unknown functions, unbound variables and unused parameters.
pub(crate) fn check_calls(
    files: &[HelperFile<'_>],
    definitions: &[Definition],
    analysis: &Analysis,
    library: &Library,
    problems: &mut Vec<Diagnostic>,
) {
    for (definition, outline) in definitions.iter().zip(&analysis.outlines) {
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
) -> Vec<Diagnostic> {
    let problem = |hint: Hint| {
        let span = locate_in_scalar(node, file.text, range(hint.span));
        Diagnostic::error(codes::UNKNOWN_FUNCTION, hint.message)
            .in_file(file.name)
            .at(span)
            .help_if(hint.help)
    };
    lint::unknown_calls(outline, library).into_iter().map(problem).collect()
}

fn variables(file: &HelperFile<'_>, definition: &Definition, outline: &Outline) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let names: Vec<&str> = definition.parameters.iter().map(|parameter| &*parameter.name).collect();
    // Named groups of a regular expression are bound as variables at run time.
    let has_groups = definition.body.as_str().is_some_and(|body| body.contains("(?P<"));
    for (name, span) in &outline.reads {
        let is_bound = names.contains(&name.as_str()) || outline.bound_names.contains(name);
        if is_bound || outline.has_computed_names || has_groups {
            continue;
        }
        let span = locate_in_scalar(&definition.body, file.text, range(*span));
        let help =
            suggest::closest_name(name, names.iter().copied()).map(|best| format!("did you mean `${best}`?"));
        let message = format!("variable `${name}` is never set, so it is null");
        problems
            .push(Diagnostic::warning(codes::VARIABLE, message).in_file(file.name).at(span).help_if(help));
    }
    for (parameter_idx, parameter) in definition.parameters.iter().enumerate() {
        let is_read = outline.reads.iter().any(|(name, _)| *name == *parameter.name)
            || (parameter_idx == 0 && outline.reads_dollar)
            || outline.has_computed_names;
        if !is_read {
            let message = format!("parameter `{}` is not used in the body", parameter.name);
            problems
                .push(Diagnostic::warning(codes::VARIABLE, message).in_file(file.name).at(parameter.span));
        }
    }
    problems
}
