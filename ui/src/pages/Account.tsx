import { useMutation } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { api, data } from "../api/client";
import { useIdentity } from "../app/identity";
import { PageHead } from "../components/PageHead";
import { Problem } from "../components/Problem";
import { TokenForm } from "../components/TokenForm";

export default function Account() {
  const { data: identity } = useIdentity();
  const [old, setOld] = useState("");
  const [next, setNext] = useState("");
  const change = useMutation({
    mutationFn: () => data(api.PUT("/api/v1/users/me/password", { body: { old_password: old, password: next } })),
    onSuccess: () => {
      setOld("");
      setNext("");
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <div className="page">
      <PageHead title={identity?.name ?? "Account"} aside={identity && <span className="muted">role {identity.roles.join(", ")}, tenant {identity.tenant}</span>} />
      <form className="card stack tight" style={{ maxWidth: 640 }} onSubmit={submit} aria-label="Password">
        <h2>Password</h2>
        <div className="field">
          <label htmlFor="old">Current password</label>
          <input id="old" type="password" autoComplete="current-password" required value={old} onChange={(event) => setOld(event.target.value)} />
        </div>
        <div className="field">
          <label htmlFor="next">New password</label>
          <input id="next" type="password" autoComplete="new-password" required value={next} onChange={(event) => setNext(event.target.value)} />
        </div>
        {change.isError && <Problem error={change.error} />}
        {change.isSuccess && <p role="status">Password changed.</p>}
        <button type="submit" className="button primary" disabled={change.isPending}>
          Change password
        </button>
      </form>
      <div style={{ maxWidth: 640 }}>
        <TokenForm
          title="New API token"
          action="Create token"
          create={async (label, hours) => (await data(api.POST("/api/v1/tokens", { body: { label, expires_in: hours * 3600 } }))).token}
        />
      </div>
    </div>
  );
}
