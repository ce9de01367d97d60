"""Keeps generated requests from revoking the token of the run and from deleting all seed data.

A request that changes the user, the tenant or the token of the run would make every later response a 401, which the
OpenAPI document allows. Such a request gets the ID of a record that does not exist.

DELETE requests are redirected by ID: the first N_KEPT records of each resource are never deleted, the next N_KEPT lose
parts, the following ones are deleted as a whole. Otherwise later requests would only find 404.
"""

import os

import schemathesis

PROTECTED = {
    "/api/v1/users/{id}": int(os.environ["STOKER_CONTRACT_USER"]),
    "/api/v1/tenants/{id}": int(os.environ["STOKER_CONTRACT_TENANT"]),
    "/api/v1/tokens/{id}": int(os.environ["STOKER_CONTRACT_TOKEN"]),
}
MISSING_ID = 1_000_000_000
# Records per range; see seed.rs.
N_KEPT = int(os.environ["STOKER_CONTRACT_KEPT"])


@schemathesis.hook
def before_call(context, case, kwargs):
    try:
        record = int(case.path_parameters["id"])
    except (KeyError, TypeError, ValueError):
        return
    if record == PROTECTED.get(case.path):
        case.path_parameters["id"] = MISSING_ID
    elif case.method == "DELETE" and 1 <= record <= 2 * N_KEPT:
        is_whole = case.path.endswith("/{id}")
        case.path_parameters["id"] = (2 if is_whole else 1) * N_KEPT + (record - 1) % N_KEPT + 1
