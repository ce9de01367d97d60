import type { Control, Pane } from "../../lib/wizard";

export function PaneCard({ pane, set }: { pane: Pane; set: (control: string, value: unknown) => void }) {
  const id = `pane-${pane.name}`;
  return (
    <section className="card stack tight" aria-labelledby={id}>
      <h2 id={id}>
        {pane.label}
        {pane.required && <span className="muted small-text"> required</span>}
      </h2>
      {pane.controls.map((control) => (
        <ControlInput key={control.name} control={control} set={(value) => set(control.name, value)} />
      ))}
    </section>
  );
}

function ControlInput({ control, set }: { control: Control; set: (value: unknown) => void }) {
  const id = `control-${control.pane}-${control.name}`;
  const dropped = control.dropped && <span className="error">{control.dropped}</span>;
  if (control.type === "radio" || control.type === "select") {
    return (
      <fieldset className="field" style={{ border: 0, margin: 0, padding: 0 }}>
        <legend className="fieldname">{control.label}</legend>
        {control.options.map((option) => (
          <label className="check" key={String(option.data)}>
            <input
              type="radio"
              name={id}
              checked={control.value === option.data}
              disabled={control.reason !== undefined || option.reason !== undefined}
              onChange={() => set(option.data)}
            />
            <span>
              {option.label}
              <Note reason={option.reason} description={option.description} />
            </span>
          </label>
        ))}
        {control.reason && <span className="hint">{control.reason}</span>}
        {dropped}
      </fieldset>
    );
  }
  if (control.type === "checkbox") {
    return (
      <div className="field">
        <label className="check">
          <input id={id} type="checkbox" checked={control.value === true} disabled={control.reason !== undefined} onChange={(event) => set(event.target.checked)} />
          <span>
            {control.label}
            <Note reason={control.reason} description={control.description} />
          </span>
        </label>
        {dropped}
      </div>
    );
  }
  return (
    <div className="field">
      <label htmlFor={id}>{control.label}</label>
      <input
        id={id}
        type={control.type === "password" ? "password" : "text"}
        autoComplete="off"
        value={control.value == null ? "" : String(control.value)}
        disabled={control.reason !== undefined}
        onChange={(event) => set(event.target.value)}
      />
      {(control.reason ?? control.description) && <span className="hint">{control.reason ?? control.description}</span>}
    </div>
  );
}

/** Line below a label: why the choice is disabled, or what it is. */
function Note({ reason, description }: { reason?: string; description: string }) {
  if (!reason && !description) return null;
  return (
    <>
      <br />
      <span className="muted small-text">
        {reason && <span aria-hidden="true">⊘ </span>}
        {reason ?? description}
      </span>
    </>
  );
}
