import type { Schemas } from "../../api/client";

/** What a task changed on its node. */
export function HostChanges({ differences }: { differences: Schemas["HostDifference"][] }) {
  return (
    <section className="stack tight" aria-label="Changes on the node">
      <h3>Changes on the node</h3>
      {differences.map((difference) => (
        <div key={`${difference.subject} ${difference.attribute}`}>
          <code>{difference.subject}</code>: {difference.attribute}{" "}
          {difference.text == null ? (
            <>
              <Value text={difference.old} /> → <Value text={difference.new} />
            </>
          ) : (
            difference.text
              .trimEnd()
              .split("\n")
              .map((line, index) => (
                <pre key={index} className={line.startsWith("+") ? "diff-add" : line.startsWith("-") ? "diff-del" : undefined}>
                  {line}
                </pre>
              ))
          )}
        </div>
      ))}
    </section>
  );
}

function Value({ text }: { text?: string | null }) {
  return text == null ? <span className="muted">absent</span> : <code>{text}</code>;
}
