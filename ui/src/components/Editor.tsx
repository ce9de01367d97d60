import { useMemo, useRef, useState, type KeyboardEvent } from "react";
import { yamlTokens, yaqlPrefix } from "../lib/yamlTokens";

/** Text with colours, numbers of lines, lines that are wrong, and names that can be completed. */
export function Editor({ label, value, onChange, problems, names, isReadOnly }: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** Messages by line, from 1. */
  problems: Map<number, string>;
  /** What can be called in expressions. */
  names: string[];
  isReadOnly?: boolean;
}) {
  const area = useRef<HTMLTextAreaElement>(null);
  const [prefix, setPrefix] = useState<string>();
  const lines = useMemo(() => value.split("\n").map(yamlTokens), [value]);
  const offered = prefix === undefined || prefix.length < 2 ? [] : names.filter((name) => name.startsWith(prefix) && name !== prefix).slice(0, 8);
  const look = () => {
    const element = area.current;
    if (element) setPrefix(yaqlPrefix(element.value, element.selectionStart));
  };
  const insert = (text: string) => {
    const element = area.current;
    if (!element) return;
    const at = element.selectionStart;
    onChange(value.slice(0, at) + text + value.slice(element.selectionEnd));
    requestAnimationFrame(() => {
      element.focus();
      element.setSelectionRange(at + text.length, at + text.length);
      look();
    });
  };
  const complete = (name: string) => insert(name.slice(prefix?.length ?? 0));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Tab" || event.shiftKey || isReadOnly) return;
    const first = offered[0];
    if (first === undefined) return;
    event.preventDefault();
    complete(first);
  };
  return (
    <div className="stack tight">
      <div className="editor">
        <pre aria-hidden="true">
          {lines.map((tokens, place) => (
            <div key={place} className={problems.has(place + 1) ? "bad" : ""}>
              <span className="ln">{place + 1}</span>
              {tokens.map((token, at) => (
                <span key={at} className={`tok-${token.kind}`}>
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
            look();
          }}
          onKeyDown={onKeyDown}
          onKeyUp={look}
          onClick={look}
        />
      </div>
      {offered.length > 0 && (
        <div className="row" role="group" aria-label="Functions that fit">
          <span className="muted small-text">
            <kbd>Tab</kbd> takes the first:
          </span>
          {offered.map((name) => (
            <button key={name} type="button" className="button small mono" onClick={() => complete(name)}>
              {name}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
