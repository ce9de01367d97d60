//! What helpers read: their bodies are expressions, too.
//!
//! A body sees its parameters and nothing of its caller, but both states through `changed`, `old`, `new` and their kin.

use stoker_yaql::Engine;

use super::{Dollar, Found, Visitor};

impl Visitor<'_> {
    pub(super) fn is_helper(&self, name: &str, is_method: bool) -> bool {
        self.bodies(name, is_method).next().is_some()
    }

    /// Notes what the helpers of a name read. Says whether there are any.
    pub(super) fn helpers(&self, name: &str, is_method: bool, found: &mut Found) -> bool {
        let mut has_any = false;
        for body in self.bodies(name, is_method) {
            has_any = true;
            if !self.inside.iter().any(|known| known == body) {
                self.body(body, found);
            }
        }
        has_any
    }

    fn bodies(&self, name: &str, is_method: bool) -> impl Iterator<Item = &str> {
        let entry = self.library().get(name.trim_end_matches('_'));
        let overloads = entry.into_iter().flat_map(move |entry| entry.layers(is_method)).flatten();
        overloads.filter_map(|overload| overload.function.body())
    }

    fn body(&self, body: &str, found: &mut Found) {
        // One that is no expression fails wherever it is called.
        let Ok(expression) = Engine::new(self.expression.program().library.clone()).compile(body) else {
            return;
        };
        let inside = self.inside.iter().cloned().chain([body.to_owned()]).collect();
        // What all nodes have in common is remembered by places in the expression itself, not in helpers.
        let mut visitor =
            Visitor { expression: &expression, own_keys: self.own_keys, shared: Vec::new(), inside };
        if visitor.is_opaque() {
            found.note_everything();
            return;
        }
        let mut read = Found::default();
        visitor.visit(expression.root(), Dollar::Element, &mut read);
        // Parameters were read by whoever gave them.
        (read.uses_element, read.uses_variables) = (false, false);
        found.merge(read);
    }
}
