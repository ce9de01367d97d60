"""Keeps a run of schemathesis from sawing off the branch it sits on.

Whoever changes a user, a tenant or a token may end the login of the run itself, and from then on every answer would
be 401, which the contract allows. Such a request goes to something that is not there instead.

Nor may the first things that were planted be deleted: the requests after that would find nothing but 404. The next
ones are there to lose a part of themselves, those after them to be deleted as a whole.
"""

import os

import schemathesis

OWN = {
    "/api/v1/users/{id}": int(os.environ["STOKER_CONTRACT_USER"]),
    "/api/v1/tenants/{id}": int(os.environ["STOKER_CONTRACT_TENANT"]),
    "/api/v1/tokens/{id}": int(os.environ["STOKER_CONTRACT_TOKEN"]),
}
NOBODY = 1_000_000_000
# As many of each kind stay, lose parts, go.
N_KEPT = int(os.environ["STOKER_CONTRACT_KEPT"])


@schemathesis.hook
def before_call(context, case, kwargs):
    try:
        thing = int(case.path_parameters["id"])
    except (KeyError, TypeError, ValueError):
        return
    if thing == OWN.get(case.path):
        case.path_parameters["id"] = NOBODY
    elif case.method == "DELETE" and 1 <= thing <= 2 * N_KEPT:
        is_whole = case.path.endswith("/{id}")
        case.path_parameters["id"] = (2 if is_whole else 1) * N_KEPT + (thing - 1) % N_KEPT + 1
