//! Puppet, which tests of the task type `puppet` run.

use super::debian;
use crate::failure::Outcome;

/// Installs Puppet unless it is there. Tests apply manifests with the program alone; no service is started.
pub(crate) fn ensure() -> Outcome {
    debian::ensure("puppet", &debian::PUPPET)
}
