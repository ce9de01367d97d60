import { useState, type FormEvent } from "react";
import { Problem } from "./Problem";

/** Makes a token and shows it the one time that it can be seen. */
export function TokenForm({ title, action, make }: { title: string; action: string; make: (label: string, hours: number) => Promise<string | null | undefined> }) {
  const [label, setLabel] = useState("");
  const [hours, setHours] = useState("24");
  const [made, setMade] = useState("");
  const [error, setError] = useState<unknown>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setError(undefined);
    try {
      setMade((await make(label, Number(hours))) ?? "");
      setLabel("");
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <form className="card stack tight" onSubmit={submit} aria-label={title}>
      <h2>{title}</h2>
      <div className="row">
        <input type="text" aria-label="What it is for" placeholder="what it is for" required value={label} onChange={(event) => setLabel(event.target.value)} />
        <label className="row">
          for
          <input type="number" aria-label="Hours" min={1} max={8760} style={{ width: 80 }} value={hours} onChange={(event) => setHours(event.target.value)} />
          hours
        </label>
        <button type="submit" className="button">
          {action}
        </button>
      </div>
      {made && (
        <div className="problem warning" role="status">
          <p>Copy it now; it cannot be shown again.</p>
          <code style={{ overflowWrap: "anywhere", userSelect: "all" }}>{made}</code>
        </div>
      )}
      {error !== undefined && <Problem error={error} />}
    </form>
  );
}
