"""Tests the public client of the module API (python-troveclient) against a server with its own agents.

STOKER_URL is the server URL, STOKER_PASSWORD the password of its admin; STOKER_FOLDER is a folder to write into.
Every step asserts; the first that fails ends the program with its line.
"""

import base64
import json
import os
import pathlib
import subprocess
import sys
import time

import requests
from keystoneauth1 import session as ks_session
from keystoneauth1.identity import v3
from troveclient import client as trove_client
from troveclient.apiclient import exceptions

URL = os.environ["STOKER_URL"]
PASSWORD = os.environ["STOKER_PASSWORD"]
FOLDER = pathlib.Path(os.environ["STOKER_FOLDER"])
TROVE = pathlib.Path(sys.executable).with_name("trove")


def api(method, path, body=None):
    answer = requests.request(method, f"{URL}/api/v1/{path}", json=body, auth=("admin", PASSWORD), timeout=60)
    assert answer.ok, f"{method} {path}: {answer.status_code} {answer.text}"
    return answer.json()


def python_api(user, password, project):
    auth = v3.Password(
        auth_url=f"{URL}/v3",
        username=user,
        password=password,
        project_name=project,
        user_domain_id="default",
        project_domain_id="default",
    )
    return trove_client.Client("1.0", session=ks_session.Session(auth=auth))


def trove(user, password, project, *arguments, fails=None):
    """Runs a command that prints JSON; with `fails`, expects an error message that contains this text."""
    environment = dict(
        os.environ,
        OS_AUTH_URL=f"{URL}/v3",
        OS_USERNAME=user,
        OS_PASSWORD=password,
        OS_PROJECT_NAME=project,
    )
    done = subprocess.run(
        [TROVE, "--json", *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=120
    )
    if fails is not None:
        assert done.returncode != 0 and fails in done.stderr, f"{arguments}: {done.stdout}{done.stderr}"
        return None
    assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
    return json.loads(done.stdout) if done.stdout.strip() else None


def refused(status, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except exceptions.HttpError as error:
        found = getattr(error, "http_status", None) or getattr(error, "code", None)
        assert found == status, f"{found}: {error}"
        return str(error)
    raise AssertionError(f"{call} was not refused")


def until(what, condition):
    for _ in range(300):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError(f"in vain: {what}")


def plant():
    """A release without a graph, two tenants with a member each, and three free nodes."""
    api("POST", "releases", {"name": "mysql", "version": "8.0", "operating_system": "Debian", "state": "available"})
    for tenant, user in [("red", "ada"), ("blue", "bob")]:
        api("POST", "tenants", {"name": tenant})
        api("POST", "users", {"name": user, "password": user, "tenant": tenant, "roles": ["member"]})
    for number in range(1, 4):
        api("POST", "nodes", {"mac": f"52:54:00:00:00:0{number}", "status": "discover"})


def file(name, text):
    path = FOLDER / name
    path.write_text(text)
    return path


def order_of_application(admin, instance):
    """Six modules with the priorities and orders of the table, on a real agent."""
    trace = FOLDER / "order"
    table = [(False, 9, "sixth"), (True, 4, "second"), (False, 0, "fourth"), (True, 9, "third"), (False, 1, "fifth"),
             (True, 0, "first")]
    made = []
    for priority, order, name in table:
        script = f"#!/bin/sh\necho $1 {name} >> {trace}\necho done {name}\n"
        made.append(
            admin.modules.create(
                name, "script", script.encode(), all_tenants=True, priority_apply=priority, apply_order=order
            )
        )
    results = admin.instances.module_apply(instance, made)
    places = ["first", "second", "third", "fourth", "fifth", "sixth"]
    assert [result.name for result in results] == places, results
    assert [result.message for result in results] == [f"done {name}" for name in places]
    assert trace.read_text().split() == [word for name in places for word in ("apply", name)]
    for module in made:
        admin.instances.module_remove(instance, module)
    assert trace.read_text().count("remove") == 6
    for module in made:
        admin.modules.delete(module)


def python_interface(admin, ada, instance):
    created = ada.modules.create("greeting", "ping", b"message=hello\n", description="says hello", live_update=True)
    assert (created.type, created.apply_order, created.is_admin, created.tenant) == ("ping", 5, False, created.tenant_id)
    assert [module.name for module in ada.modules.list()] == ["greeting"]
    assert ada.modules.get(created.id).instance_count == 0
    results = ada.instances.module_apply(instance, [created])
    assert [(result.status, result.message) for result in results] == [("OK", "hello")]
    assert ada.modules.get(created.id).instance_count == 1
    updated = ada.modules.update(created, contents=b"message=bye\n", apply_order=2)
    assert updated.apply_order == 2 and updated.md5 != created.md5
    counted = ada.modules.instances(created, count_only=True)
    assert [(row.instance_count, row.current) for row in counted] == [(1, False)]
    ada.modules.reapply(created)
    until("reapply", lambda: [row.current for row in ada.modules.instances(created, count_only=True)] == [True])
    queried = ada.instances.module_query(instance)
    assert [(row.name, row.status, row.message) for row in queried] == [("greeting", "OK", "bye")]
    saved = ada.instances.module_retrieve(instance, directory=str(FOLDER), prefix="saved_")
    assert pathlib.Path(saved["greeting"]).read_bytes() == b"message=bye\n"
    assert [found.id for found in ada.modules.instances(created)] == [instance.id]
    for wrong in (-1, 10, "5"):
        refused(400, ada.modules.create, "wrong", "ping", b"x", apply_order=wrong)
    refused(404, ada.modules.create, "wrong", "nonesuch", b"x")
    ada.instances.module_remove(instance, created)
    assert ada.instances.modules(instance) == []
    target = FOLDER / "written"
    contents = f"path={target}\nmode=0600\n\nThe licence.\n".encode()
    licence = admin.modules.create("licence", "file", contents, all_tenants=True)
    results = ada.instances.module_apply(instance, [licence])
    assert results[0].status == "OK", results[0].message
    assert target.read_text() == "The licence.\n" and target.stat().st_mode & 0o777 == 0o600
    masked = [row for row in ada.instances._modules_get(instance, include_contents=True) if row.name == "licence"]
    assert b"Must be admin" in base64.b64decode(masked[0].contents)
    refused(403, admin.modules.update, licence, description="it is applied")
    admin.instances.module_remove(instance, licence)
    assert not target.exists()
    own = ada.modules.create("script", "script", b"#!/bin/sh\ntrue\n")
    results = ada.instances.module_apply(instance, [own])
    assert results[0].status == "ERROR", "only an admin's scripts are run"
    return created


def tenants(admin, ada, bob, module):
    assert [found.name for found in bob.modules.list()] == ["licence"], "what is for all, and nothing of others"
    for call in (bob.modules.get, bob.modules.delete, bob.modules.instances, bob.modules.reapply):
        refused(404, call, module.id)
    refused(404, bob.modules.update, module.id, apply_order=0)
    refused(403, ada.modules.update, module.id, priority_apply=True)
    assert admin.modules.update(module.id, priority_apply=True).is_admin
    assert admin.modules.update(module.id, priority_apply=False).is_admin, "it stays an admin's"
    assert "admin" in refused(403, ada.modules.update, module.id, apply_order=1)
    refused(403, ada.modules.delete, module.id)
    assert not admin.modules.update(module.id, full_access=True).is_admin
    ada.modules.update(module.id, apply_order=1)
    hidden = admin.modules.create("hidden", "ping", b"message=x", all_tenants=True, visible=False)
    refused(404, ada.modules.get, hidden.id)


def command(instance):
    ada = ("ada", "ada", "red")
    admin = ("admin", PASSWORD, "admin")
    contents = file("contents", "message=from the command\n")
    created = trove(*ada, "module-create", "shell", "ping", contents, "--live_update", "--apply_order", 7)
    assert created["name"] == "shell" and created["apply_order"] == 7, created
    assert "shell" in [module["name"] for module in trove(*ada, "module-list")]
    assert trove(*ada, "module-show", "shell")["md5"] == created["md5"]
    trove(*ada, "module-create", "twin", "ping", contents, "--priority_apply", fails="You must be admin")
    other = file("other", "message=changed\n")
    changed = trove(*ada, "module-update", "shell", "--file", other, "--apply_order", 3)
    assert changed["apply_order"] == 3 and changed["md5"] != created["md5"]
    applied = trove(*ada, "module-apply", instance.name, "shell")
    assert applied[0]["status"] == "OK" and applied[0]["message"] == "changed", applied
    assert [row["name"] for row in trove(*ada, "module-list-instance", instance.name)] == ["shell", "script"]
    assert trove(*ada, "module-query", instance.id)[0]["message"] == "changed"
    assert trove(*ada, "module-instances", "shell")[0]["id"] == instance.id
    assert trove(*admin, "module-instance-count", "shell")[0]["instance_count"] == 1
    trove(*ada, "module-reapply", "shell", "--force")
    trove(*ada, "module-remove", instance.name, "shell")
    trove(*ada, "module-show", "nonesuch", fails="nonesuch")
    trove(*ada, "module-delete", "shell")
    made = trove(*admin, "module-create", "all", "ping", contents, "--all_tenants", "--priority_apply")
    assert made["is_admin"] and made["tenant"] == "all", made
    assert [store["name"] for store in trove(*ada, "datastore-list")] == ["mysql"]
    assert [found["name"] for found in trove(*ada, "list")] == [instance.name]


def main():
    plant()
    admin = python_api("admin", PASSWORD, "admin")
    ada = python_api("ada", "ada", "red")
    bob = python_api("bob", "bob", "blue")
    automatic = admin.modules.create("automatic", "ping", b"message=automatic", all_tenants=True, auto_apply=True)
    instance = ada.instances.create("db-1", flavor_id="1", volume={"size": 1}, datastore="mysql")
    assert instance.status == "ACTIVE" and instance.datastore == {"type": "mysql", "version": "8.0"}
    until("the automatic module", lambda: [row.name for row in ada.instances.modules(instance)] == ["automatic"])
    ada.instances.module_remove(instance, automatic)
    admin.modules.delete(automatic)
    order_of_application(admin, instance)
    module = python_interface(admin, ada, instance)
    tenants(admin, ada, bob, module)
    command(instance)
    ada.instances.delete(instance)
    assert ada.instances.list() == []
    print("the client of the module API works: made, listed, changed, applied in order, removed")


main()
