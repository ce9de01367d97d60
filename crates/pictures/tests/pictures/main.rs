//! Pictures are well formed whatever is drawn, and look as they should.

mod definitions;
mod formed;
mod look;
