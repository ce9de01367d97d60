import { useQuery } from "@tanstack/react-query";
import { LoadingRows } from "../../components/Loading";
import { Empty } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { Words } from "../../components/Words";
import { useParam } from "../../lib/params";
import { functionList } from "./functions";

export function Reference() {
  const functions = useQuery(functionList);
  const [search, setSearch] = useParam("q", "");
  const words = search.toLowerCase();
  const shown = (functions.data ?? []).filter((one) => `${one.name} ${one.family} ${one.doc}`.toLowerCase().includes(words))
    // What is called so comes before what only speaks of it.
    .toSorted((a, b) => Number(b.name.toLowerCase().includes(words)) - Number(a.name.toLowerCase().includes(words)));
  return (
    <section className="stack tight" aria-labelledby="functions">
      <div className="toolbar">
        <h2 id="functions">Functions</h2>
        <input type="search" aria-label="Search functions" placeholder="Search functions" value={search} onChange={(event) => setSearch(event.target.value)} />
        <span className="muted">{shown.length}</span>
      </div>
      {functions.isPending && <LoadingRows />}
      {functions.isError && <Problem error={functions.error} retry={() => void functions.refetch()} />}
      {functions.isSuccess && shown.length === 0 && <Empty title={`No function matches “${search}”`} />}
      {shown.length > 0 && (
        <div className="tablewrap" style={{ maxHeight: 480, overflow: "auto" }}>
          <table aria-label="Functions">
            <thead>
              <tr>
                <th>Name</th>
                <th>Written</th>
                <th>About</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((one) => (
                <tr key={`${one.family} ${one.name} ${one.signatures[0] ?? ""}`}>
                  <td>
                    <code>{one.name}</code>
                    <br />
                    <span className="muted small-text">{one.family}</span>
                  </td>
                  <td>
                    {one.signatures.map((signature) => (
                      <pre key={signature}>{signature}</pre>
                    ))}
                  </td>
                  <td>
                    <Words text={one.doc} />
                    {one.examples.slice(0, 3).map((example) => (
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
