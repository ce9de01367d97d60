//! Calls of functions defined by `def`.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use smallvec::SmallVec;

use super::call::{ActualArg, ActualArgs};
use super::context::DefinedFunction;
use super::resolve::Failure;
use super::{Args, Ctx, Cx, Program};
use crate::error::Result;
use crate::library::{Function, FunctionDoc, Overload, Purity, Signature};
use crate::syntax::{ArgNode, ArgRange, VarName};
use crate::value::Value;

impl Cx<'_> {
    /// Calls a function defined by `def`, binding arguments without overload resolution.
    pub(super) fn call_defined(
        &mut self,
        program: &Arc<Program>,
        function: &DefinedFunction,
        closure: &Ctx,
        args: ArgRange,
        ctx: &Ctx,
    ) -> Result<Value> {
        let slots = program.tree.arg_slice(args);
        if let [ArgNode::Positional(node)] = slots {
            let frame = closure.with_first(self.eval(program, *node, ctx)?)?;
            return self.eval(&function.program, function.body, &frame);
        }
        let mut vars: SmallVec<[(VarName, Value); 1]> = SmallVec::new();
        let mut position = 0;
        for slot in slots {
            match slot {
                ArgNode::Omitted => position += 1,
                ArgNode::Positional(node) => {
                    position += 1;
                    vars.push((VarName::Positional(position), self.eval(program, *node, ctx)?));
                }
                ArgNode::Pair(key, value) => {
                    let Some(name) = program.tree.keyword(*key) else {
                        return Err(self.failure(Failure::BadName, &function.name, None));
                    };
                    let name = VarName::new(name);
                    vars.push((name, self.eval(program, *value, ctx)?));
                }
            }
        }
        let frame = closure.with_vars(vars)?;
        self.eval(&function.program, function.body, &frame)
    }

    /// Calls a function defined by `def` that overload resolution selected, with evaluated arguments.
    pub(super) fn call_closure(
        &mut self,
        function: &DefinedFunction,
        closure: &Ctx,
        positional: ActualArgs,
        named: &[(&str, ActualArg)],
    ) -> Result<Value> {
        let mut vars: SmallVec<[(VarName, Value); 1]> = SmallVec::new();
        for (index, actual) in positional.into_iter().enumerate() {
            if let ActualArg::Value(value) = actual {
                vars.push((VarName::Positional(index as u32 + 1), value));
            }
        }
        for (name, actual) in named {
            if let ActualArg::Value(value) = actual {
                vars.push((VarName::new(name), value.clone()));
            }
        }
        let frame = closure.with_vars(vars)?;
        self.eval(&function.program, function.body, &frame)
    }
}

/// Overload that represents functions defined by `def`: it accepts any arguments.
pub(super) static DEFINED: LazyLock<Arc<Overload>> = LazyLock::new(defined_overload);

/// Returns the overload that represents functions defined by `def`: any arguments, all evaluated.
fn defined_overload() -> Arc<Overload> {
    struct Defined;
    impl Function for Defined {
        fn signatures(&self) -> Cow<'_, [Cow<'_, str>]> {
            Cow::Borrowed(&[])
        }

        fn doc(&self) -> FunctionDoc<'_> {
            FunctionDoc { module: "system", text: "", examples: Cow::Borrowed(&[]), purity: Purity::Pure }
        }

        fn call(&self, _: usize, _: &mut Cx<'_>, _: &mut Args<'_>) -> Result<Value> {
            Ok(Value::Null)
        }
    }
    match Signature::parse("f def(args: any..., **kwargs: any)") {
        Ok(signature) => Arc::new(Overload { signature, function: Arc::new(Defined), index: 0 }),
        Err(error) => unreachable!("{error}"),
    }
}
