import { useQuery } from "@tanstack/react-query";
import { LoadingRows } from "../../components/Loading";
import { EmptyState } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { MessageText } from "../../components/MessageText";
import { count } from "../../lib/format";
import { useParam } from "../../lib/params";
import { functionList } from "./functions";

export function Reference() {
  const functions = useQuery(functionList);
  const [search, setSearch] = useParam("q", "");
  const searchText = search.toLowerCase();
  const matchingFunctions = (functions.data ?? []).filter((entry) => `${entry.name} ${entry.family} ${entry.doc}`.toLowerCase().includes(searchText))
    // Matches in the name come before matches in the description.
    .toSorted((a, b) => Number(b.name.toLowerCase().includes(searchText)) - Number(a.name.toLowerCase().includes(searchText)));
  return (
    <section className="stack tight" aria-labelledby="functions">
      <div className="toolbar">
        <h2 id="functions">Functions</h2>
        <input type="search" aria-label="Search functions" placeholder="Search functions" value={search} onChange={(event) => setSearch(event.target.value)} />
        <span className="muted">{functions.data && count(matchingFunctions.length, "function")}</span>
      </div>
      {functions.isPending && <LoadingRows />}
      {functions.isError && <Problem error={functions.error} retry={() => void functions.refetch()} />}
      {functions.isSuccess && matchingFunctions.length === 0 && <EmptyState title={`No functions match “${search}”`}>Change or clear the search above.</EmptyState>}
      {matchingFunctions.length > 0 && (
        <div className="tablewrap" role="region" aria-label="Function reference" tabIndex={0} style={{ maxHeight: 480, overflow: "auto" }}>
          <table aria-label="Functions">
            <thead>
              <tr>
                <th>Name</th>
                <th>Signature</th>
                <th>Description</th>
              </tr>
            </thead>
            <tbody>
              {matchingFunctions.map((entry) => (
                <tr key={`${entry.family} ${entry.name} ${entry.signatures[0] ?? ""}`}>
                  <td>
                    <code>{entry.name}</code>
                    <br />
                    <span className="muted small-text">{entry.family}</span>
                  </td>
                  <td>
                    {entry.signatures.map((signature) => (
                      <pre key={signature}>{signature}</pre>
                    ))}
                  </td>
                  <td>
                    <MessageText text={entry.doc} />
                    {entry.examples.slice(0, 3).map((example) => (
                      <pre key={example.expression} className="muted">
                        {example.expression} → {example.result}
                      </pre>
                    ))}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
