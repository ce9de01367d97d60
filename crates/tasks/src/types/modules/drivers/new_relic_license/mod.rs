//! `new_relic_license`: licence key of the New Relic infrastructure agent.

use super::Driver;
use super::keyed::{self, Keyed};

const KEYED: Keyed = Keyed {
    key: "license_key",
    path: "/etc/newrelic-infra.yml",
    text: "license_key: {}\n",
    permissions: 0o640,
};

pub(super) const DRIVER: Driver = Driver {
    name: "new_relic_license",
    description: "Writes the `license_key` of the contents to /etc/newrelic-infra.yml for the New Relic agent.",
    admin_only: false,
    apply: |payload, cx| Box::pin(keyed::apply(&KEYED, payload, cx)),
    remove: |_, cx| Box::pin(keyed::remove(&KEYED, cx)),
};
