//! `new_relic_license`: the key of a monitoring agent.

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
    about: "Gives the New Relic agent the `license_key` of the contents, in /etc/newrelic-infra.yml.",
    admin_only: false,
    apply: |payload, cx| Box::pin(keyed::apply(&KEYED, payload, cx)),
    remove: |_, cx| Box::pin(keyed::remove(&KEYED, cx)),
};
