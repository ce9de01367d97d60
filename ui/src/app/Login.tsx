import { useState, type FormEvent } from "react";
import { reach } from "../api/client";
import { queries } from "./queries";
import { session } from "./session";

/** Takes the place of any page while nobody is logged in; the address stays. */
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
      session.begin(await logIn(name, password));
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
          <p role="status">Your login has expired. Log in again to go on where you were.</p>
        )}
        <div className="field">
          <label htmlFor="name">User</label>
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
  const response = await reach("/keystone/v2.0/tokens", {
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
  if (response.status === 429) throw new Error("Too many failed logins. Wait a minute and try again.");
  if (response.status === 401) throw new Error("User or password is wrong.");
  throw new Error(body?.error?.message ?? `The server answered ${response.status}.`);
}
