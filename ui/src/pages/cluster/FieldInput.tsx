import type { Field } from "../../lib/settings";

interface Props {
  field: Field;
  isChanged: boolean;
  isReadOnly: boolean;
  onChange: (value: unknown) => void;
}

/** Input for one setting, by its type. A setting of an unknown type is shown as read-only JSON. */
export function FieldInput({ field, isChanged, isReadOnly, onChange }: Props) {
  const id = `field-${field.section}-${field.name}`;
  const isDisabled = isReadOnly || field.disabled !== undefined;
  const mark = isChanged && <span className="chip">changed</span>;
  const notes = (
    <>
      {field.description && <span className="hint">{field.description}</span>}
      {field.disabled && !isReadOnly && <span className="hint">{field.disabled}</span>}
      {field.problem && <span className="error">{field.problem}</span>}
    </>
  );
  if (field.type === "checkbox") {
    return (
      <div className="field">
        <label className="check">
          <input id={id} type="checkbox" checked={field.value === true} disabled={isDisabled} onChange={(event) => onChange(event.target.checked)} />
          <span>
            {field.label} {mark}
          </span>
        </label>
        {notes}
      </div>
    );
  }
  if (field.type === "radio") {
    return (
      <fieldset className="field" style={{ border: 0, margin: 0, padding: 0 }}>
        <legend className="fieldname">
          {field.label} {mark}
        </legend>
        {field.choices.map((choice) => (
          <label className="check" key={String(choice.data)}>
            <input
              type="radio"
              name={id}
              checked={field.value === choice.data}
              disabled={isDisabled || choice.restriction !== undefined}
              onChange={() => onChange(choice.data)}
            />
            <span>
              {choice.label}
              {(choice.restriction ?? choice.description) && <span className="muted small-text"> {choice.restriction ?? choice.description}</span>}
            </span>
          </label>
        ))}
        {notes}
      </fieldset>
    );
  }
  return (
    <div className="field">
      <label htmlFor={id}>
        {field.label} {mark}
      </label>
      <Input id={id} field={field} isDisabled={isDisabled} onChange={onChange} />
      {notes}
    </div>
  );
}

function Input({ id, field, isDisabled, onChange }: { id: string; field: Field; isDisabled: boolean; onChange: (value: unknown) => void }) {
  const text = typeof field.value === "string" ? field.value : field.value == null ? "" : String(field.value);
  const lines = Array.isArray(field.value) ? field.value.join("\n") : text;
  switch (field.type) {
    case "select":
      return (
        <select id={id} value={text} disabled={isDisabled} onChange={(event) => onChange(field.choices.find((choice) => String(choice.data) === event.target.value)?.data)}>
          {field.choices.map((choice) => (
            <option key={String(choice.data)} value={String(choice.data)} disabled={choice.restriction !== undefined}>
              {choice.label}
            </option>
          ))}
        </select>
      );
    case "number":
      return <input id={id} type="number" value={text} disabled={isDisabled} onChange={(event) => onChange(event.target.value === "" ? null : Number(event.target.value))} />;
    case "password":
      return <input id={id} type="password" autoComplete="new-password" value={text} disabled={isDisabled} onChange={(event) => onChange(event.target.value)} />;
    case "textarea":
    case "file":
      return <textarea id={id} rows={4} value={text} disabled={isDisabled} onChange={(event) => onChange(event.target.value)} />;
    case "text_list":
    case "textarea_list":
      return <textarea id={id} rows={3} value={lines} disabled={isDisabled} onChange={(event) => onChange(event.target.value === "" ? [] : event.target.value.split("\n"))} />;
    case "text":
      return <input id={id} type="text" value={text} disabled={isDisabled} onChange={(event) => onChange(event.target.value)} />;
    default:
      return <textarea id={id} rows={6} readOnly value={JSON.stringify(field.value, null, 2)} />;
  }
}
