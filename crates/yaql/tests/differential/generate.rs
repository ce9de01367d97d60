//! Generates expressions for a goal type, most of which evaluate without an error.

use crate::literals;
use crate::rng::Rng;
use crate::table::Table;
use crate::tree::{Form, Node};
use crate::types::Ty;

pub(crate) struct Generator<'a> {
    pub(crate) rng: Rng,
    pub(crate) table: &'a Table,
    /// Visible variables, innermost last.
    pub(crate) scope: Vec<(String, Ty)>,
    pub(crate) delegates: bool,
    pub(crate) legacy: bool,
}

impl Generator<'_> {
    pub(crate) fn expr(&mut self, goal: &Ty, depth: usize) -> Node {
        if depth == 0 {
            return if self.rng.chance(40) { self.path(goal) } else { None }
                .unwrap_or_else(|| self.leaf(goal, 1));
        }
        let node = match self.rng.below(100) {
            0..=24 => self.path(goal),
            25..=34 => None,
            35..=52 => self.operator(goal, depth - 1),
            53..=90 => self.call_for(goal, depth - 1),
            _ => self.form(goal, depth - 1),
        };
        node.unwrap_or_else(|| self.leaf(goal, depth))
    }

    /// Generates an operand, usually in parentheses if precedence matters.
    fn operand(&mut self, goal: &Ty, depth: usize) -> Node {
        let node = self.expr(goal, depth);
        if self.rng.chance(80) { node.tight() } else { node }
    }

    /// Generates a path from a variable to a value of the goal type.
    fn path(&mut self, goal: &Ty) -> Option<Node> {
        let mut paths = Vec::new();
        for (index, (name, ty)) in self.scope.iter().enumerate() {
            if self.scope[index + 1..].iter().all(|(other, _)| other != name) {
                reach(Node::atom(name), ty, goal, 3, &mut paths);
            }
        }
        if paths.is_empty() { None } else { Some(self.rng.choose(&paths).clone()) }
    }

    pub(crate) fn leaf(&mut self, goal: &Ty, depth: usize) -> Node {
        let below = depth.saturating_sub(1);
        match goal {
            Ty::Null => Node::atom(self.rng.pick(&["null", "null", "$none"])),
            Ty::Bool => Node::atom(self.rng.pick(&["true", "false"])),
            Ty::Int => literals::int(&mut self.rng),
            Ty::Float => literals::float(&mut self.rng),
            Ty::Str => literals::string(&mut self.rng),
            Ty::DateTime => literals::datetime(&mut self.rng),
            Ty::TimeSpan => literals::timespan(&mut self.rng),
            Ty::Regex => {
                let mut args = vec![literals::pattern(&mut self.rng)];
                if self.rng.chance(25) {
                    let flag = self.rng.pick(&["ignoreCase", "multiLine", "dotAll"]);
                    args.push(Node::pair(Node::atom(flag), Node::atom("true")));
                }
                Node::call("regex", args)
            }
            Ty::Context => {
                let value = self.expr(&Ty::Int, below);
                Node::call("let", vec![Node::pair(Node::atom("k"), value)])
            }
            Ty::Seq(element) => {
                let items = (0..self.rng.below(5)).map(|_| self.item(element, below)).collect();
                Node::new(Form::List, items)
            }
            Ty::Set(element) => {
                let items = (0..self.rng.below(4)).map(|_| self.item(element, below)).collect();
                Node::call("set", items)
            }
            Ty::Iter(element) => self.iterator(element, below),
            Ty::Ordering(element) => {
                let list = self.leaf(&Ty::Seq(element.clone()), below);
                Node::method(list, "orderBy", vec![Node::atom("$")])
            }
            Ty::Coll(element) => match self.rng.below(10) {
                0..=4 => self.leaf(&Ty::Seq(element.clone()), depth),
                5 | 6 => self.iterator(element, depth),
                7 => self.leaf(&Ty::Set(element.clone()), depth),
                8 => {
                    let map = self.leaf(&Ty::Dict(element.clone()), depth);
                    Node::method(map, "values", Vec::new())
                }
                _ => {
                    let key = self.item(element, below);
                    let value = self.item(&Ty::Int, below);
                    Node::method(Node::new(Form::Map, vec![Node::pair(key, value)]), "keys", Vec::new())
                }
            },
            Ty::Dict(element) => {
                let pairs = (0..self.rng.below(4)).map(|_| {
                    let key = if self.rng.chance(90) {
                        Node::atom(literals::word(&mut self.rng))
                    } else {
                        let ty = Ty::scalar(&mut self.rng);
                        self.item(&ty, 0)
                    };
                    Node::pair(key, self.item(element, below))
                });
                Node::new(Form::Map, pairs.collect())
            }
            Ty::Record(fields) => {
                let pairs = fields.iter().map(|(key, ty)| Node::pair(Node::atom(key), self.item(ty, below)));
                Node::new(Form::Map, pairs.collect())
            }
            Ty::Any => {
                let ty = Ty::random(&mut self.rng, 2);
                if ty == Ty::Any { Node::atom("$") } else { self.expr(&ty, below) }
            }
        }
    }

    /// Generates an element of a literal; occasionally of another type.
    fn item(&mut self, ty: &Ty, depth: usize) -> Node {
        match self.rng.below(40) {
            0 => Node::atom("null"),
            1 => self.leaf(&Ty::Any, 0),
            _ => self.expr(ty, depth),
        }
    }

    fn iterator(&mut self, element: &Ty, depth: usize) -> Node {
        if *element == Ty::Int && self.rng.chance(60) {
            let mut args = vec![literals::small(&mut self.rng)];
            if self.rng.chance(40) {
                args.push(literals::small(&mut self.rng));
            }
            return Node::call("range", args);
        }
        let list = self.leaf(&Ty::Seq(Box::new(element.clone())), depth);
        let (name, args) = match self.rng.below(5) {
            0 => ("reverse", vec![]),
            1 => ("where", vec![Node::atom("true")]),
            2 => ("take", vec![literals::small(&mut self.rng)]),
            3 => ("memorize", vec![]),
            _ => ("select", vec![Node::atom("$")]),
        };
        Node::method(list, name, args)
    }

    fn operator(&mut self, goal: &Ty, depth: usize) -> Option<Node> {
        let (op, left, right) = match goal {
            Ty::Int => (self.rng.pick(&["+", "-", "*", "/", "mod"]), Ty::Int, Ty::Int),
            Ty::Float if self.rng.chance(10) => ("/", Ty::TimeSpan, Ty::TimeSpan),
            Ty::Float => {
                let other = self.rng.choose(&[Ty::Int, Ty::Float]).clone();
                (self.rng.pick(&["+", "-", "*", "/", "mod"]), Ty::Float, other)
            }
            Ty::Str if self.rng.chance(20) => ("*", Ty::Str, Ty::Int),
            Ty::Str => ("+", Ty::Str, Ty::Str),
            Ty::Bool => return Some(self.condition(depth)),
            Ty::Seq(_) if self.rng.chance(20) => {
                let list = self.operand(goal, depth);
                return Some(Node::binary("*", list, literals::small(&mut self.rng)));
            }
            Ty::Seq(_) | Ty::Dict(_) | Ty::Coll(_) => ("+", goal.clone(), goal.clone()),
            Ty::Set(_) => (self.rng.pick(&["-", "+"]), goal.clone(), goal.clone()),
            Ty::DateTime => (self.rng.pick(&["+", "-"]), Ty::DateTime, Ty::TimeSpan),
            Ty::TimeSpan => match self.rng.below(6) {
                0 => ("-", Ty::DateTime, Ty::DateTime),
                1 => ("*", Ty::TimeSpan, Ty::Int),
                2 => ("/", Ty::TimeSpan, self.rng.choose(&[Ty::Int, Ty::Float]).clone()),
                3 => ("*", Ty::Float, Ty::TimeSpan),
                _ => (self.rng.pick(&["+", "-"]), Ty::TimeSpan, Ty::TimeSpan),
            },
            _ => return None,
        };
        if matches!(goal, Ty::Int | Ty::Float | Ty::TimeSpan) && self.rng.chance(15) {
            let sign = self.rng.pick(&["-", "-", "+"]);
            return Some(Node::unary(sign, self.operand(goal, depth)));
        }
        let left = self.operand(&left, depth);
        Some(Node::binary(op, left, self.operand(&right, depth)))
    }

    fn condition(&mut self, depth: usize) -> Node {
        let (op, left, right) = match self.rng.below(12) {
            0..=3 => {
                let ty = Ty::ordered(&mut self.rng);
                (self.rng.pick(&["<", ">", "<=", ">="]), ty.clone(), ty)
            }
            4 | 5 => {
                let ty = Ty::random(&mut self.rng, 2);
                (self.rng.pick(&["=", "!="]), ty.clone(), ty)
            }
            6 => {
                let ty = Ty::scalar(&mut self.rng);
                ("in", ty.clone(), Ty::coll(&ty))
            }
            7 => {
                let pattern = literals::pattern(&mut self.rng);
                let text = self.operand(&Ty::Str, depth);
                return Node::binary(self.rng.pick(&["=~", "!~"]), text, pattern);
            }
            8 => return Node::unary("not", self.operand(&Ty::Any, depth)),
            9 => {
                let ty = Ty::Set(Box::new(Ty::Int));
                (self.rng.pick(&["<", ">", "<=", ">="]), ty.clone(), ty)
            }
            _ => (self.rng.pick(&["and", "or"]), Ty::Bool, Ty::Bool),
        };
        let left = self.operand(&left, depth);
        Node::binary(op, left, self.operand(&right, depth))
    }

    /// Generates a construct that supports every type: contexts, branches, access.
    fn form(&mut self, goal: &Ty, depth: usize) -> Option<Node> {
        let node = match self.rng.below(12) {
            0 | 1 => self.binding(goal, depth),
            2 => {
                let condition = self.expr(&Ty::Bool, depth);
                let value = self.expr(goal, depth);
                let otherwise = Node::pair(Node::atom("true"), self.expr(goal, depth));
                Node::call("switch", vec![Node::pair(condition, value), otherwise])
            }
            3 => {
                let list = self.leaf(&Ty::seq(goal), depth);
                Node::index(list, vec![literals::small(&mut self.rng)])
            }
            4 => {
                let key = literals::word(&mut self.rng);
                let pair = Node::pair(Node::atom(key), self.expr(goal, depth));
                let safe = self.rng.chance(30);
                let map = Node::new(Form::Map, vec![pair]);
                Node::new(Form::Member(key.to_owned(), safe), vec![map])
            }
            5 => self.definition(goal, depth),
            6 => self.call_by_name(depth),
            7 => Node::binary(
                self.rng.pick(&["and", "or"]),
                self.operand(goal, depth),
                self.operand(goal, depth),
            ),
            8 if self.delegates => {
                self.scope.push(("$".to_owned(), Ty::Int));
                let body = self.expr(goal, depth);
                self.scope.pop();
                let args = vec![self.expr(&Ty::Int, depth)];
                Node::new(Form::Invoke, [vec![Node::call("lambda", vec![body])], args].concat())
            }
            8 if self.legacy => {
                let value = self.expr(&Ty::Int, depth);
                let tuple = Node::new(Form::Pair, vec![value, self.expr(goal, depth)]);
                Node::index(tuple.paren(), vec![Node::atom("1")])
            }
            9 => self.property(goal, depth)?,
            10 => self.expr(goal, depth).paren(),
            _ => {
                let mut keys = vec![self.expr(&Ty::Str, 0)];
                if self.rng.chance(50) {
                    keys.push(self.expr(goal, depth));
                }
                let map = self.expr(&Ty::Dict(Box::new(goal.clone())), depth);
                if self.rng.chance(40) { Node::index(map, keys) } else { Node::method(map, "get", keys) }
            }
        };
        Some(node)
    }

    fn property(&mut self, goal: &Ty, depth: usize) -> Option<Node> {
        const SPAN: [&str; 6] = ["days", "hours", "minutes", "seconds", "milliseconds", "microseconds"];
        const DATE: [&str; 8] =
            ["year", "month", "day", "hour", "minute", "second", "microsecond", "weekday"];
        let (of, key) = match goal {
            Ty::Float => (Ty::TimeSpan, self.rng.pick(&SPAN)),
            Ty::Int => (Ty::DateTime, self.rng.pick(&DATE)),
            Ty::DateTime => (Ty::DateTime, self.rng.pick(&["date", "utc"])),
            Ty::TimeSpan => (Ty::DateTime, self.rng.pick(&["time", "offset"])),
            _ => return None,
        };
        Some(Node::member(self.expr(&of, depth), key))
    }

    fn binding(&mut self, goal: &Ty, depth: usize) -> Node {
        let ty = Ty::random(&mut self.rng, 2);
        let value = self.expr(&ty, depth);
        let (context, variables) = match self.rng.below(4) {
            0 => (Node::call("with", vec![value]), vec![("$".to_owned(), ty)]),
            1 => {
                let element = ty.element().cloned().unwrap_or(Ty::Int);
                let list = self.expr(&Ty::seq(&element), depth);
                let names = ["p", "q"].map(Node::atom);
                let variables = ["$p", "$q"].map(|name| (name.to_owned(), element.clone()));
                (Node::method(list, "unpack", names.into()), variables.into())
            }
            _ => {
                let name = self.rng.pick(&["x", "y", "k"]);
                let pair = Node::pair(Node::atom(name), value);
                (Node::call("let", vec![pair]), vec![(format!("${name}"), ty)])
            }
        };
        let scope_len = self.scope.len();
        self.scope.extend(variables);
        let body = self.expr(goal, depth);
        self.scope.truncate(scope_len);
        Node::binary("->", context, body)
    }

    fn definition(&mut self, goal: &Ty, depth: usize) -> Node {
        let ty = Ty::random(&mut self.rng, 1);
        let scope_len = self.scope.len();
        self.scope.push(("$".to_owned(), ty.clone()));
        let body = self.expr(goal, depth);
        self.scope.truncate(scope_len);
        let name = self.rng.pick(&["f", "f", "f", "my_fn", "len", "str", "'#operator_+'", "max"]);
        let called = if name.starts_with('\'') { "f" } else { name };
        let call = Node::call(called, vec![self.expr(&ty, depth)]);
        let use_of = match self.rng.below(3) {
            0 => {
                let list = self.expr(&Ty::seq(&ty), depth);
                Node::method(list, "select", vec![Node::call(called, vec![Node::atom("$")])])
            }
            1 => Node::new(Form::List, vec![call, self.expr(goal, depth)]),
            _ => call,
        };
        Node::binary("->", Node::call("def", vec![Node::atom(name), body]), use_of)
    }

    fn call_by_name(&mut self, depth: usize) -> Node {
        const NAMES: [&str; 8] =
            ["max", "len", "str", "'#operator_+'", "'#operator_<'", "'*equal'", "toUpper", "'#indexer'"];
        let args = (0..=self.rng.below(2)).map(|_| self.expr(&Ty::Any, depth)).collect();
        let mut arguments = vec![Node::atom(self.rng.pick(&NAMES)), Node::new(Form::List, args)];
        arguments.push(Node::new(Form::Map, Vec::new()));
        if self.rng.chance(30) {
            arguments.push(self.expr(&Ty::Any, depth));
        }
        Node::call("call", arguments)
    }
}

/// Collects paths to values of the goal type inside a value of a known type.
fn reach(node: Node, ty: &Ty, goal: &Ty, depth: usize, paths: &mut Vec<Node>) {
    if goal.accepts(ty) {
        paths.push(node.clone());
    }
    if depth == 0 {
        return;
    }
    match ty {
        Ty::Record(fields) => {
            for (key, ty) in fields.iter() {
                reach(Node::member(node.clone(), key), ty, goal, depth - 1, paths);
            }
        }
        Ty::Seq(element) => {
            if let Ty::Record(fields) = &**element {
                for (key, ty) in fields.iter() {
                    let column = Ty::Iter(Box::new(ty.clone()));
                    reach(Node::member(node.clone(), key), &column, goal, 0, paths);
                }
            }
            reach(Node::index(node, vec![Node::atom("0")]), element, goal, depth - 1, paths);
        }
        _ => {}
    }
}
