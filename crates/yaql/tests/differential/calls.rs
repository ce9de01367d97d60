//! Generates calls of library functions with arguments that match their signatures.

use stoker_yaql::library::{Param, ParamType, Style};

use crate::generate::Generator;
use crate::literals;
use crate::table::{Entry, ResultType};
use crate::tree::{Form, Node};
use crate::types::Ty;

impl Generator<'_> {
    /// Generates a call of a function that returns the goal type.
    pub(crate) fn call_for(&mut self, goal: &Ty, depth: usize) -> Option<Node> {
        let table = self.table;
        let candidates: Vec<&Entry> =
            table.entries.iter().filter(|entry| fits(entry.result_type, goal)).collect();
        if candidates.is_empty() {
            return None;
        }
        let entry = self.rng.pick(&candidates);
        Some(self.call(entry, goal, depth))
    }

    pub(crate) fn call(&mut self, entry: &Entry, goal: &Ty, depth: usize) -> Node {
        let element = self.subject(entry.result_type, goal);
        let signature = &entry.overload.signature;
        let mut args = Vec::new();
        let mut by_name = false;
        for param in &signature.params {
            if param.default.is_some() && !self.rng.chance(45) {
                match self.rng.below(8) {
                    0 if !by_name => args.push(Node::new(Form::Omitted, Vec::new())),
                    _ => by_name = true,
                }
                continue;
            }
            let value = self.argument(entry, param, &element, goal, depth);
            // A function that takes pairs would not interpret `k => v` as a named argument.
            if by_name || (!signature.pairs && param.default.is_some() && self.rng.chance(10)) {
                by_name = true;
                args.push(Node::pair(Node::atom(&*param.name), value));
            } else {
                args.push(value);
            }
        }
        while args.last().is_some_and(|arg| arg.form == Form::Omitted) {
            args.pop();
        }
        if let Some(rest) = &signature.rest {
            let least = usize::from(signature.params.is_empty() && signature.style != Style::Function);
            for _ in 0..least + self.rng.below(4) {
                let value = self.argument(entry, rest, &element, goal, depth);
                args.push(value);
            }
        }
        if let Some(rest) = &signature.named_rest {
            for name in ["default", "k", "j"].into_iter().take(self.rng.below(3)) {
                let value = self.argument(entry, rest, &element, goal, depth);
                args.push(Node::pair(Node::atom(name), value));
            }
        }
        let as_method = match signature.style {
            Style::Function => false,
            Style::Method => true,
            Style::Both => self.rng.chance(60),
        };
        if !as_method || args.is_empty() || matches!(args[0].form, Form::Pair | Form::Omitted) {
            return Node::call(&entry.name, args);
        }
        let receiver = args.remove(0);
        let mut call = Node::method(receiver, &entry.name, args);
        if self.rng.chance(4) {
            call.form = Form::Method(entry.name.clone(), true);
        }
        call
    }

    /// Chooses the element type of the collection that a function operates on.
    fn subject(&mut self, result: ResultType, goal: &Ty) -> Ty {
        let of_goal = match result {
            ResultType::Element => Some(goal.clone()),
            ResultType::Same | ResultType::Seq | ResultType::Set | ResultType::Ordering => {
                goal.element().cloned()
            }
            ResultType::Parts => goal.element().and_then(Ty::element).cloned(),
            ResultType::Dict => match goal {
                Ty::Dict(value) => Some((**value).clone()),
                _ => None,
            },
            _ => None,
        };
        of_goal.unwrap_or_else(|| match self.rng.below(4) {
            0 => Ty::record(&mut self.rng, 1),
            1 => Ty::random(&mut self.rng, 2),
            _ => Ty::scalar(&mut self.rng),
        })
    }

    fn argument(&mut self, entry: &Entry, param: &Param, element: &Ty, goal: &Ty, depth: usize) -> Node {
        if let Some(node) = self.argument_by_name(entry, param) {
            return node;
        }
        match param.kind {
            ParamType::Value(kinds) => {
                let ty = Ty::of_kinds(kinds, element, &mut self.rng);
                self.expr(&ty, depth)
            }
            ParamType::Iter(_) => self.expr(&Ty::coll(element), depth),
            ParamType::Pair => {
                let key = self.expr(&Ty::Str, 0);
                Node::pair(key, self.expr(element, depth))
            }
            ParamType::LazyPair => {
                let key = self.expr(&Ty::Bool, depth);
                Node::pair(key, self.expr(goal, depth))
            }
            ParamType::Lambda | ParamType::LambdaInContext => self.lambda(entry, param, element, goal, depth),
            ParamType::Keyword => Node::atom(literals::word(&mut self.rng)),
            ParamType::MethodLambda | ParamType::Expression => self.expr(&Ty::Any, depth),
        }
    }

    /// Generates an argument for a parameter whose name implies its meaning.
    fn argument_by_name(&mut self, entry: &Entry, param: &Param) -> Option<Node> {
        let rng = &mut self.rng;
        if rng.chance(12) {
            return None;
        }
        let number =
            |low, high, rng: &mut crate::rng::Rng| Some(Node::atom(rng.range(low, high).to_string()));
        match (&*entry.name, &*param.name) {
            ("regex", "pattern") | ("matches", "regexp") if !matches_regex(param) => {
                Some(literals::pattern(rng))
            }
            (_, "repl") if !param.kind.is_lazy() => Some(literals::template(rng)),
            (_, "format") => Some(literals::format(rng)),
            (_, "year") => number(1990, 2030, rng),
            (_, "month") => number(1, 12, rng),
            (_, "day") => number(1, 28, rng),
            (_, "hour") => number(0, 23, rng),
            (_, "minute" | "second") => number(0, 59, rng),
            ("timespan", _) => Some(literals::small(rng)),
            (
                _,
                "count" | "position" | "length" | "index" | "start" | "stop" | "step" | "times" | "maxSplit"
                | "maxSplits" | "ndigits" | "bitsNumber" | "maxLevels" | "case",
            ) => Some(literals::small(rng)),
            ("pow", "b") => Some(literals::small(rng)),
            ("datetime", "timestamp") => number(-2_000_000_000, 4_000_000_000, rng),
            ("call", "name") => {
                Some(Node::atom(rng.pick(&["len", "max", "str", "toUpper", "select", "range"])))
            }
            ("unpack", "args") => Some(Node::atom(rng.pick(&["p", "q", "r"]))),
            ("def", "name") => Some(Node::atom(rng.pick(&["f", "g", "my_fn"]))),
            _ => None,
        }
    }

    fn lambda(&mut self, entry: &Entry, param: &Param, element: &Ty, goal: &Ty, depth: usize) -> Node {
        let record = Ty::Record([("value", Ty::Str), ("start", Ty::Int), ("end", Ty::Int)].map(owned).into());
        let of_goal = goal.element().cloned().unwrap_or(Ty::Any);
        let ordered = Ty::ordered(&mut self.rng);
        let (bound, result): (Vec<Ty>, Ty) = match (&*entry.name, &*param.name) {
            ("search" | "searchAll" | "replaceBy", _) => {
                (vec![record.clone(), record], if entry.name == "replaceBy" { Ty::Str } else { Ty::Any })
            }
            ("join", "predicate") => (vec![element.clone(), element.clone()], Ty::Bool),
            ("join", _) => (vec![element.clone(), element.clone()], of_goal),
            ("aggregate" | "reduce" | "accumulate", _) => {
                (vec![element.clone(), element.clone()], element.clone())
            }
            ("mergeWith", _) => (vec![element.clone(), element.clone()], element.clone()),
            ("generateMany", "producer") => (vec![element.clone()], Ty::coll(element)),
            ("generate", "producer") => (vec![element.clone()], element.clone()),
            ("groupBy", "aggregator") => (vec![Ty::seq(element)], Ty::Any),
            ("orderBy" | "orderByDescending" | "thenBy" | "thenByDescending" | "distinct", _) => {
                (vec![element.clone()], ordered)
            }
            ("groupBy" | "toDict", "keySelector") => (vec![element.clone()], ordered),
            ("selectMany", _) => (vec![element.clone()], Ty::coll(&of_goal)),
            ("select" | "map", _) => (vec![element.clone()], of_goal),
            ("coalesce" | "switchCase", _) => (vec![], goal.clone()),
            ("selectCase" | "selectAllCases" | "examine", _) => (vec![], Ty::Bool),
            ("def" | "lambda", _) => (vec![Ty::Int], Ty::Any),
            (_, "predicate" | "condition") => (vec![element.clone()], Ty::Bool),
            _ => (vec![element.clone()], Ty::Any),
        };
        let scope_len = self.scope.len();
        let names = if bound.len() == 2 { ["$1", "$2"] } else { ["$", ""] };
        self.scope.extend(names.iter().map(ToString::to_string).zip(bound));
        let body = self.expr(&result, depth);
        self.scope.truncate(scope_len);
        body
    }
}

fn owned((name, ty): (&str, Ty)) -> (String, Ty) {
    (name.to_owned(), ty)
}

fn matches_regex(param: &Param) -> bool {
    matches!(param.kind, ParamType::Value(kinds) if kinds.has(stoker_yaql::value::ValueKind::Regex))
}

fn fits(result: ResultType, goal: &Ty) -> bool {
    match goal {
        Ty::Any => true,
        Ty::Bool => matches!(result, ResultType::Bool | ResultType::Element),
        Ty::Int => matches!(result, ResultType::Int | ResultType::Number | ResultType::Element),
        Ty::Float => matches!(result, ResultType::Float | ResultType::Number | ResultType::Element),
        Ty::Str => matches!(result, ResultType::Str | ResultType::Element),
        Ty::DateTime => matches!(result, ResultType::DateTime | ResultType::Element),
        Ty::TimeSpan => matches!(result, ResultType::TimeSpan | ResultType::Element),
        Ty::Regex => result == ResultType::Regex,
        Ty::Context => result == ResultType::Context,
        Ty::Coll(element) => {
            matches!(
                result,
                ResultType::Same
                    | ResultType::Mapped
                    | ResultType::Ordering
                    | ResultType::Seq
                    | ResultType::Set
            ) || (result == ResultType::Strings && **element == Ty::Str)
                || (result == ResultType::Ints && **element == Ty::Int)
                || (result == ResultType::Parts && element.element().is_some())
        }
        Ty::Seq(element) => {
            result == ResultType::Seq || (result == ResultType::Strings && **element == Ty::Str)
        }
        Ty::Iter(_) => matches!(result, ResultType::Same | ResultType::Mapped),
        Ty::Ordering(_) => result == ResultType::Ordering,
        Ty::Set(_) => result == ResultType::Set,
        Ty::Dict(_) => result == ResultType::Dict,
        Ty::Null | Ty::Record(_) => false,
    }
}
