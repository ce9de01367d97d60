import { useMemo, useRef, useState, type KeyboardEvent } from "react";
import { yamlTokens, yaqlPrefix } from "../lib/yamlTokens";

/** YAML editor with syntax highlighting, line numbers, marked errors and completion of function names. */
export function Editor({ label, value, onChange, problems, names, isReadOnly }: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** Error messages by 1-based line number. */
  problems: Map<number, string>;
  /** Function names for completion in expressions. */
  names: string[];
  isReadOnly?: boolean;
}) {
  const area = useRef<HTMLTextAreaElement>(null);
  const [prefix, setPrefix] = useState<string>();
  const lines = useMemo(() => value.split("\n").map(yamlTokens), [value]);
  const suggestions = prefix === undefined || prefix.length < 2 ? [] : names.filter((name) => name.startsWith(prefix) && name !== prefix).slice(0, 8);
  const updatePrefix = () => {
    const element = area.current;
    if (element) setPrefix(yaqlPrefix(element.value, element.selectionStart));
  };
  const insert = (text: string) => {
    const element = area.current;
    if (!element) return;
    const caret = element.selectionStart;
    onChange(value.slice(0, caret) + text + value.slice(element.selectionEnd));
    requestAnimationFrame(() => {
      element.focus();
      element.setSelectionRange(caret + text.length, caret + text.length);
      updatePrefix();
    });
  };
  const complete = (name: string) => insert(name.slice(prefix?.length ?? 0));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Tab" || event.shiftKey || isReadOnly) return;
    const first = suggestions[0];
    if (first === undefined) return;
    event.preventDefault();
    complete(first);
  };
  return (
    <div className="stack tight">
      <div className="editor">
        <pre aria-hidden="true">
          {lines.map((tokens, index) => (
            <div key={index} className={problems.has(index + 1) ? "bad" : ""}>
              <span className="ln">{index + 1}</span>
              {tokens.map((token, position) => (
                <span key={position} className={`tok-${token.kind}`}>
                  {token.text}
                </span>
              ))}
              {tokens.length === 0 && " "}
            </div>
          ))}
        </pre>
        <textarea
          ref={area}
          aria-label={label}
          aria-invalid={problems.size > 0}
          spellCheck={false}
          autoCapitalize="off"
          readOnly={isReadOnly}
          value={value}
          onChange={(event) => {
            onChange(event.target.value);
            updatePrefix();
          }}
          onKeyDown={onKeyDown}
          onKeyUp={updatePrefix}
          onClick={updatePrefix}
        />
      </div>
      {suggestions.length > 0 && (
        <div className="row" role="group" aria-label="Matching functions">
          <span className="muted small-text">
            <kbd>Tab</kbd> inserts the first:
          </span>
          {suggestions.map((name) => (
            <button key={name} type="button" className="button small mono" onClick={() => complete(name)}>
              {name}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
