//! Functions and the libraries that group them in layers.

mod expression;
mod function;
mod signature;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use crate::eval::{Resolved, resolve_paired, resolve_plain};

pub use expression::ExpressionFunction;
pub use function::{Builtin, Example, Function, FunctionDoc, NativeFunction, Purity};
pub use signature::{Default, Param, ParamType, Signature, SignatureError, Style};

/// One signature of a function.
pub struct Overload {
    pub signature: Signature,
    pub function: Arc<dyn Function>,
    /// Index of the signature in the function.
    pub index: usize,
}

type Overloads = Vec<Arc<Overload>>;

/// All overloads of a name, by call style, innermost layer first.
#[derive(Default)]
pub struct NameEntry {
    pub functions: Vec<Vec<Arc<Overload>>>,
    pub methods: Vec<Vec<Arc<Overload>>>,
    /// Resolution of calls with n positional arguments, computed on first use. Most calls have this form and
    /// then only need their constants checked.
    plain: [[OnceLock<Option<Arc<Resolved>>>; PLAIN_ARGS]; 2],
    /// Resolution of calls whose arguments, after the receiver, are all pairs.
    paired: [[OnceLock<Option<Arc<Resolved>>>; PLAIN_ARGS]; 2],
}

/// Number of arguments from which calls are resolved individually.
pub(crate) const PLAIN_ARGS: usize = 6;

impl NameEntry {
    pub fn layers(&self, method: bool) -> &[Vec<Arc<Overload>>] {
        if method { &self.methods } else { &self.functions }
    }

    /// Returns the overloads that accept this many positional arguments of unknown type.
    pub(crate) fn plain_call(&self, method: bool, arguments: usize) -> Option<&Arc<Resolved>> {
        let cell = self.plain[usize::from(method)].get(arguments)?;
        cell.get_or_init(|| resolve_plain(self.layers(method), arguments).map(Arc::new)).as_ref()
    }

    /// Returns the overloads that accept this many pairs.
    pub(crate) fn paired_call(&self, method: bool, arguments: usize) -> Option<&Arc<Resolved>> {
        let cell = self.paired[usize::from(method)].get(arguments)?;
        cell.get_or_init(|| resolve_paired(self.layers(method), method, arguments).map(Arc::new)).as_ref()
    }
}

/// The functions available to an expression, in layers: the innermost layer with a matching overload wins.
#[derive(Default)]
pub struct Library {
    names: HashMap<Box<str>, NameEntry, foldhash::fast::FixedState>,
    functions: Vec<Arc<dyn Function>>,
    /// Names of operators, literals and accessors that a layer overrides.
    redefined: HashSet<Box<str>>,
}

impl Library {
    /// Returns this library with an additional, innermost layer. Overloads within a layer compete by
    /// specificity; across layers the innermost match wins. Names in `exclusive` hide all outer layers.
    pub fn with_layer(
        &self,
        functions: impl IntoIterator<Item = Arc<dyn Function>>,
        exclusive: &[&str],
    ) -> Result<Self, SignatureError> {
        let mut added: HashMap<Box<str>, (Overloads, Overloads)> = HashMap::new();
        let mut registered = self.functions.clone();
        for function in functions {
            for (index, text) in function.signatures().iter().enumerate() {
                let signature = Signature::parse(text)?;
                let name = signature.name.clone();
                let overload = Arc::new(Overload { signature, function: function.clone(), index });
                let (as_function, as_method) = added.entry(name).or_default();
                if overload.signature.style.is_function() {
                    as_function.push(overload.clone());
                }
                if overload.signature.style.is_method() {
                    as_method.push(overload);
                }
            }
            registered.push(function);
        }
        let mut library = Self {
            names: self.names.iter().map(|(name, entry)| (name.clone(), entry.clone())).collect(),
            functions: registered,
            redefined: self.redefined.clone(),
        };
        for (name, (functions, methods)) in added {
            if name.starts_with(['#', '*']) && !name.starts_with("#property#") {
                library.redefined.insert(name.clone());
            }
            let hides = exclusive.contains(&&*name);
            let entry = library.names.entry(name).or_default();
            push_layer(&mut entry.functions, functions, hides);
            push_layer(&mut entry.methods, methods, hides);
        }
        Ok(library)
    }

    /// Marks the current operators, literals and accessors as the standard implementations, so that fast
    /// paths may rely on them.
    pub(crate) fn mark_standard(mut self) -> Self {
        self.redefined.clear();
        self
    }

    pub fn get(&self, name: &str) -> Option<&NameEntry> {
        self.names.get(name)
    }

    /// Returns every function in registration order.
    pub fn functions(&self) -> &[Arc<dyn Function>] {
        &self.functions
    }

    pub fn names(&self) -> impl Iterator<Item = (&str, &NameEntry)> {
        self.names.iter().map(|(name, entry)| (&**name, entry))
    }

    /// Reports whether a layer overrides an operator, literal or accessor of the standard library.
    pub(crate) fn redefines_core(&self) -> bool {
        self.redefined.iter().any(|name| &**name != "#call")
    }

    pub(crate) fn redefines(&self, name: &str) -> bool {
        self.redefined.contains(name)
    }
}

impl Clone for NameEntry {
    fn clone(&self) -> Self {
        Self { functions: self.functions.clone(), methods: self.methods.clone(), ..Self::default() }
    }
}

fn push_layer(layers: &mut Vec<Vec<Arc<Overload>>>, overloads: Vec<Arc<Overload>>, hides: bool) {
    if hides {
        layers.clear();
    }
    if !overloads.is_empty() {
        layers.insert(0, overloads);
    }
}

impl std::fmt::Debug for Overload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Overload({})", self.signature)
    }
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Library({} names)", self.names.len())
    }
}
