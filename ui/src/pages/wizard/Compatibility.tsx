import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schemas } from "../../api/client";
import { LoadingRows } from "../../components/Loading";
import { EmptyState } from "../../components/PageHead";
import { Problem } from "../../components/Problem";

const CELL_LABELS: Record<string, string> = { X: "incompatible", "~": "partly incompatible", "": "compatible", "·": "no pair to compare" };

/** Compatibility matrix of a release, by subtype or by component. */
export function Compatibility({ releaseId }: { releaseId: number }) {
  const [isByComponent, setByComponent] = useState(false);
  const matrix = useQuery({
    queryKey: ["releases", releaseId, "compatibility"],
    // The endpoint can also respond with HTML, so its schema is a union.
    queryFn: async () =>
      (await data(api.GET("/api/v1/releases/{id}/compatibility", { params: { path: { id: releaseId }, query: { format: "json" } } }))) as Schemas["Compatibility"],
  });
  if (matrix.isPending) return <LoadingRows />;
  if (matrix.isError) return <Problem error={matrix.error} retry={() => void matrix.refetch()} />;
  const names = isByComponent ? matrix.data.components.map((component) => component.label || component.name) : matrix.data.subtypes;
  const cells = isByComponent ? matrix.data.component_cells : matrix.data.cells;
  if (names.length === 0) return <EmptyState title="No components">This release and its plugins declare no components.</EmptyState>;
  return (
    <section className="stack tight" aria-label="Compatibility matrix">
      <label className="check">
        <input type="checkbox" checked={isByComponent} onChange={(event) => setByComponent(event.target.checked)} />
        <span>Show components instead of subtypes</span>
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
                    <td key={other} title={`${name} and ${other}: ${CELL_LABELS[cell] ?? cell}`} className={cell === "X" ? "status-failed" : cell === "~" ? "status-interrupted" : ""}>
                      <span aria-hidden="true">{cell === "X" ? "✕" : cell === "~" ? "~" : cell === "·" ? "·" : "✓"}</span>
                      <span className="sr">{CELL_LABELS[cell] ?? cell}</span>
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
