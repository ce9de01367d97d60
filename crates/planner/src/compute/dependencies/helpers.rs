//! Dependencies of helpers, whose bodies are expressions too.
//!
//! A body sees its parameters but not the variables of its caller. It can read both states through `changed`,
//! `old`, `new` and the other state functions.

use stoker_yaql::Engine;

use super::{Dollar, Reads, Visitor};

impl Visitor<'_> {
    pub(super) fn is_helper(&self, name: &str, is_method: bool) -> bool {
        self.bodies(name, is_method).next().is_some()
    }

    /// Adds the reads of all helpers with this name; returns whether there are any.
    pub(super) fn visit_helpers(&self, name: &str, is_method: bool, reads: &mut Reads) -> bool {
        let mut has_any = false;
        for body in self.bodies(name, is_method) {
            has_any = true;
            if !self.call_path.iter().any(|active| active == body) {
                self.visit_body(body, reads);
            }
        }
        has_any
    }

    fn bodies(&self, name: &str, is_method: bool) -> impl Iterator<Item = &str> {
        let entry = self.library().get(name.trim_end_matches('_'));
        let overloads = entry.into_iter().flat_map(move |entry| entry.layers(is_method)).flatten();
        overloads.filter_map(|overload| overload.function.body())
    }

    fn visit_body(&self, body: &str, reads: &mut Reads) {
        // A body that does not compile fails in every call and reads nothing.
        let Ok(expression) = Engine::new(self.expression.program().library.clone()).compile(body) else {
            return;
        };
        let call_path = self.call_path.iter().cloned().chain([body.to_owned()]).collect();
        // Shared results are cached by position in the analysed expression, so positions in helper bodies are
        // not recorded.
        let mut visitor =
            Visitor { expression: &expression, own_keys: self.own_keys, shared: Vec::new(), call_path };
        if visitor.is_opaque() {
            reads.add_everything();
            return;
        }
        let mut body_reads = Reads::default();
        visitor.visit(expression.root(), Dollar::Element, &mut body_reads);
        // Parameter values are accounted for at the call site.
        (body_reads.uses_element, body_reads.uses_variables) = (false, false);
        reads.merge(body_reads);
    }
}
