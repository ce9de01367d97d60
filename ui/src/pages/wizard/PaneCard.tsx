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
              {(option.reason ?? option.description) && (
                <>
                  <br />
                  <span className="muted small-text">{option.reason ?? option.description}</span>
                </>
              )}
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
          <input type="checkbox" checked={control.value === true} disabled={control.reason !== undefined} onChange={(event) => set(event.target.checked)} />
          <span>
            {control.label}
            {(control.reason ?? control.description) && (
              <>
                <br />
                <span className="muted small-text">{control.reason ?? control.description}</span>
              </>
            )}
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
