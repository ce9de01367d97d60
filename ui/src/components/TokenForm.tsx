import { useState, type FormEvent } from "react";
import { Problem } from "./Problem";

/** Creates a token and shows it once. */
export function TokenForm({ title, action, create }: { title: string; action: string; create: (label: string, hours: number) => Promise<string | null | undefined> }) {
  const [label, setLabel] = useState("");
  const [hours, setHours] = useState("24");
  const [token, setToken] = useState("");
  const [error, setError] = useState<unknown>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setError(undefined);
    try {
      setToken((await create(label, Number(hours))) ?? "");
      setLabel("");
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <form className="card stack tight" onSubmit={submit} aria-label={title}>
      <h2>{title}</h2>
      <div className="row">
        <input type="text" aria-label="Description" placeholder="Description" required value={label} onChange={(event) => setLabel(event.target.value)} />
        <label className="row">
          valid for
          <input type="number" aria-label="Validity in hours" min={1} max={8760} style={{ width: 80 }} value={hours} onChange={(event) => setHours(event.target.value)} />
          hours
        </label>
        <button type="submit" className="button">
          {action}
        </button>
      </div>
      {token && (
        <div className="problem warning" role="status">
          <p>Copy this token now. It is not shown again.</p>
          <code style={{ overflowWrap: "anywhere", userSelect: "all" }}>{token}</code>
        </div>
      )}
      {error !== undefined && <Problem error={error} />}
    </form>
  );
}
