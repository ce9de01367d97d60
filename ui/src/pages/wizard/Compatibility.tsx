import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schemas } from "../../api/client";
import { LoadingRows } from "../../components/Loading";
import { Empty } from "../../components/PageHead";
import { Problem } from "../../components/Problem";

const WORDS: Record<string, string> = { X: "never together", "~": "some not together", "": "go together", "·": "no pair" };

/** Who conflicts with whom, as a table. */
export function Compatibility({ releaseId }: { releaseId: number }) {
  const [isFine, setFine] = useState(false);
  const matrix = useQuery({
    queryKey: ["releases", releaseId, "compatibility"],
    // It is a page only for those who ask for one.
    queryFn: async () =>
      (await data(api.GET("/api/v1/releases/{id}/compatibility", { params: { path: { id: releaseId }, query: { format: "json" } } }))) as Schemas["Compatibility"],
  });
  if (matrix.isPending) return <LoadingRows />;
  if (matrix.isError) return <Problem error={matrix.error} retry={() => void matrix.refetch()} />;
  const names = isFine ? matrix.data.components.map((one) => one.label || one.name) : matrix.data.subtypes;
  const cells = isFine ? matrix.data.component_cells : matrix.data.cells;
  if (names.length === 0) return <Empty title="No components are known of this release" />;
  return (
    <section className="stack tight" aria-label="What goes together">
      <label className="check">
        <input type="checkbox" checked={isFine} onChange={(event) => setFine(event.target.checked)} />
        <span>Single components instead of kinds</span>
      </label>
      <div className="tablewrap">
        <table aria-label="Compatibility">
          <thead>
            <tr>
              <th>
                <span className="sr">Component</span>
              </th>
              {names.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {names.map((name, row) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {names.map((other, column) => {
                  const cell = cells[row]?.[column] ?? "";
                  return (
                    <td key={other} title={`${name} and ${other}: ${WORDS[cell] ?? cell}`} className={cell === "X" ? "status-failed" : cell === "~" ? "status-interrupted" : ""}>
                      <span aria-hidden="true">{cell === "X" ? "✕" : cell === "~" ? "~" : cell === "·" ? "·" : "✓"}</span>
                      <span className="sr">{WORDS[cell] ?? cell}</span>
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
