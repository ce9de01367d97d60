//! Functions: how they describe themselves, and libraries of them.

mod expression;
mod function;
mod signature;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use crate::eval::{Resolved, resolve_paired, resolve_plain};

pub use expression::ExpressionFunction;
pub use function::{Builtin, Example, Function, FunctionDoc, Native, Purity};
pub use signature::{Default, Param, ParamType, Signature, SignatureError, Style};

/// One way to call a function.
pub struct Overload {
    pub signature: Signature,
    pub function: Arc<dyn Function>,
    /// Which of the function's signatures this is.
    pub index: usize,
}

type Overloads = Vec<Arc<Overload>>;

/// All overloads of one name, by how they are called, innermost layer first.
#[derive(Default)]
pub struct NameEntry {
    pub functions: Vec<Vec<Arc<Overload>>>,
    pub methods: Vec<Vec<Arc<Overload>>>,
    /// What becomes of calls with so many plain positional arguments, worked out when first met:
    /// most calls are such, and need no more than a look at their constants.
    plain: [[OnceLock<Option<Arc<Resolved>>>; PLAIN_ARGS]; 2],
    /// The same for calls whose arguments are all pairs, beside the receiver.
    paired: [[OnceLock<Option<Arc<Resolved>>>; PLAIN_ARGS]; 2],
}

/// Calls with this many arguments or more are worked out one by one.
pub(crate) const PLAIN_ARGS: usize = 6;

impl NameEntry {
    pub fn layers(&self, method: bool) -> &[Vec<Arc<Overload>>] {
        if method { &self.methods } else { &self.functions }
    }

    /// The overloads that take this many positional arguments, whatever expressions they are.
    pub(crate) fn plain_call(&self, method: bool, arguments: usize) -> Option<&Arc<Resolved>> {
        let cell = self.plain[usize::from(method)].get(arguments)?;
        cell.get_or_init(|| resolve_plain(self.layers(method), arguments).map(Arc::new)).as_ref()
    }

    /// The overloads that take this many pairs.
    pub(crate) fn paired_call(&self, method: bool, arguments: usize) -> Option<&Arc<Resolved>> {
        let cell = self.paired[usize::from(method)].get(arguments)?;
        cell.get_or_init(|| resolve_paired(self.layers(method), method, arguments).map(Arc::new)).as_ref()
    }
}

/// The functions an expression can call: layers, of which the innermost that fits decides.
#[derive(Default)]
pub struct Library {
    names: HashMap<Box<str>, NameEntry, foldhash::fast::FixedState>,
    functions: Vec<Arc<dyn Function>>,
    /// Operators, literals and access that a layer gives another meaning.
    redefined: HashSet<Box<str>>,
}

impl Library {
    /// The standard library.
    pub fn standard() -> Arc<Self> {
        crate::stdlib::standard()
    }

    /// Lays functions over this library. Within a layer all overloads of a name compete; across
    /// layers the innermost that fits wins. Names in `exclusive` hide every layer beneath.
    pub fn with_layer(
        &self,
        functions: impl IntoIterator<Item = Arc<dyn Function>>,
        exclusive: &[&str],
    ) -> Result<Self, SignatureError> {
        let mut added: HashMap<Box<str>, (Overloads, Overloads)> = HashMap::new();
        let mut all = self.functions.clone();
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
            all.push(function);
        }
        let mut library = Self {
            names: self.names.iter().map(|(name, entry)| (name.clone(), entry.clone())).collect(),
            functions: all,
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

    /// Declares that what operators, literals and access mean so far is their ordinary meaning.
    pub(crate) fn sealed(mut self) -> Self {
        self.redefined.clear();
        self
    }

    pub fn get(&self, name: &str) -> Option<&NameEntry> {
        self.names.get(name)
    }

    /// Every function, in the order of registration.
    pub fn functions(&self) -> &[Arc<dyn Function>] {
        &self.functions
    }

    pub fn names(&self) -> impl Iterator<Item = (&str, &NameEntry)> {
        self.names.iter().map(|(name, entry)| (&**name, entry))
    }

    /// Whether any operator, literal or access means something else than in the standard library.
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
