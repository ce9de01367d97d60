import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { api, data, type Schemas } from "../../api/client";
import { useIdentity } from "../../app/identity";
import { Confirm } from "../../components/Confirm";
import { DataTable } from "../../components/DataTable";
import { LoadingRows } from "../../components/Loading";
import { Problem } from "../../components/Problem";
import { Time } from "../../components/Time";

const ROLES = ["admin", "operator", "planner", "viewer", "member"];

export default function Users() {
  const queries = useQueryClient();
  const me = useIdentity().data;
  const users = useQuery({ queryKey: ["users"], queryFn: () => data(api.GET("/api/v1/users")) });
  const [userToDelete, setUserToDelete] = useState<Schemas["User"]>();
  const onSuccess = () => queries.invalidateQueries({ queryKey: ["users"] });
  const change = useMutation({
    mutationFn: ({ id, ...body }: { id: number; roles?: string[]; enabled?: boolean }) =>
      data(api.PUT("/api/v1/users/{id}", { params: { path: { id } }, body })),
    onSuccess,
  });
  const remove = useMutation({
    mutationFn: (id: number) => data(api.DELETE("/api/v1/users/{id}", { params: { path: { id } } })),
    onSuccess: async () => {
      setUserToDelete(undefined);
      await onSuccess();
    },
  });
  if (users.isPending) return <LoadingRows />;
  if (users.isError) return <Problem error={users.error} retry={() => void users.refetch()} />;
  return (
    <div className="stack">
      {change.isError && <Problem title="User not changed" error={change.error} />}
      <DataTable
        label="Users"
        rows={users.data}
        rowKey={(user) => user.id}
        columns={[
          { id: "name", name: "User", sort: (user) => user.name, cell: (user) => <strong>{user.name}</strong> },
          { id: "tenant", name: "Tenant", sort: (user) => user.tenant ?? "", cell: (user) => user.tenant ?? "–" },
          {
            id: "roles",
            name: "Role",
            cell: (user) => (
              <select
                aria-label={`Role of ${user.name}`}
                value={user.roles[0] ?? ""}
                disabled={user.name === me?.name}
                title={user.name === me?.name ? "You cannot change your own role" : undefined}
                onChange={(event) => change.mutate({ id: user.id, roles: [event.target.value] })}
              >
                {ROLES.map((role) => (
                  <option key={role}>{role}</option>
                ))}
              </select>
            ),
          },
          {
            id: "enabled",
            name: "Login enabled",
            cell: (user) => (
              <input
                type="checkbox"
                aria-label={`Enable login of ${user.name}`}
                checked={user.enabled}
                disabled={user.name === me?.name}
                onChange={(event) => change.mutate({ id: user.id, enabled: event.target.checked })}
              />
            ),
          },
          { id: "created", name: "Created", sort: (user) => user.created_at, cell: (user) => <Time at={user.created_at} /> },
          {
            id: "actions",
            name: "",
            cell: (user) =>
              user.name !== me?.name && (
                <button type="button" className="button small" onClick={() => setUserToDelete(user)} aria-label={`Delete ${user.name}`}>
                  Delete…
                </button>
              ),
          },
        ]}
      />
      <NewUser onCreated={onSuccess} />
      {userToDelete && (
        <Confirm
          title={`Delete user ${userToDelete.name}?`}
          action={`Delete ${userToDelete.name}`}
          isDanger
          isBusy={remove.isPending}
          error={remove.error ?? undefined}
          onConfirm={() => remove.mutate(userToDelete.id)}
          onClose={() => setUserToDelete(undefined)}
        >
          <p>All tokens of {userToDelete.name} are revoked immediately. The audit log keeps the actions of this user.</p>
        </Confirm>
      )}
    </div>
  );
}

function NewUser({ onCreated }: { onCreated: () => Promise<unknown> }) {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [role, setRole] = useState("operator");
  const [tenant, setTenant] = useState("");
  const tenants = useQuery({ queryKey: ["tenants"], queryFn: () => data(api.GET("/api/v1/tenants")) });
  const create = useMutation({
    mutationFn: () => data(api.POST("/api/v1/users", { body: { name, password, roles: [role], tenant: tenant || tenants.data?.[0]?.name } })),
    onSuccess: async () => {
      setName("");
      setPassword("");
      await onCreated();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <form className="card stack tight" onSubmit={submit} aria-label="New user">
      <h2>New user</h2>
      <div className="row" style={{ alignItems: "flex-end" }}>
        <div className="field">
          <label htmlFor="new-name">Name</label>
          <input id="new-name" type="text" autoComplete="off" required value={name} onChange={(event) => setName(event.target.value)} />
        </div>
        <div className="field">
          <label htmlFor="new-password">Password</label>
          <input id="new-password" type="password" autoComplete="new-password" required value={password} onChange={(event) => setPassword(event.target.value)} />
        </div>
        <div className="field">
          <label htmlFor="new-role">Role</label>
          <select id="new-role" value={role} onChange={(event) => setRole(event.target.value)}>
            {ROLES.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </div>
        <div className="field">
          <label htmlFor="new-tenant">Tenant</label>
          <select id="new-tenant" value={tenant} onChange={(event) => setTenant(event.target.value)}>
            {tenants.data?.map((option) => (
              <option key={option.id}>{option.name}</option>
            ))}
          </select>
        </div>
        <button type="submit" className="button primary" disabled={create.isPending}>
          Create user
        </button>
      </div>
      {create.isError && <Problem error={create.error} />}
    </form>
  );
}
