import { useState, type FormEvent } from "react";
import { fetchServer } from "../api/client";
import { queries } from "./queries";
import { session } from "./session";

/**
 * Replaces every page until the user logs in. The URL does not change, so the requested page opens after
 * login.
 */
export function Login() {
  const { hasExpired } = session.use();
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);

  async function submit(event: FormEvent) {
    event.preventDefault();
    setBusy(true);
    setProblem("");
    try {
      session.start(await logIn(name, password));
      queries.clear();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  }

  return (
    <div className="login">
      <form onSubmit={submit} aria-labelledby="login-title">
        <img src="/icon.svg" alt="" />
        <h1 id="login-title">Log in to Stoker</h1>
        {hasExpired && (
          <p role="status">Your session has expired. Log in to continue on this page.</p>
        )}
        <div className="field">
          <label htmlFor="name">Username</label>
          <input
            id="name"
            autoComplete="username"
            autoFocus
            required
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </div>
        <div className="field">
          <label htmlFor="password">Password</label>
          <input
            id="password"
            type="password"
            autoComplete="current-password"
            required
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        </div>
        {problem && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        <button className="button primary" type="submit" disabled={isBusy}>
          {isBusy ? "Logging in…" : "Log in"}
        </button>
      </form>
    </div>
  );
}

async function logIn(username: string, password: string): Promise<string> {
  const response = await fetchServer("/keystone/v2.0/tokens", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ auth: { passwordCredentials: { username, password } } }),
  });
  const body = (await response.json().catch(() => null)) as {
    access?: { token?: { id?: string } };
    error?: { message?: string };
  } | null;
  const token = body?.access?.token?.id;
  if (token) return token;
  if (response.status === 429) throw new Error("Too many failed logins. Wait a minute, then try again.");
  if (response.status === 401) throw new Error("Incorrect username or password.");
  throw new Error(body?.error?.message ?? `Login failed: the server responded with status ${response.status}.`);
}
