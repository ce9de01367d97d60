import { useMemo, type ReactNode } from "react";
import { compareNatural } from "../lib/format";
import { useParam } from "../lib/params";

export interface Column<T> {
  id: string;
  name: string;
  cell: (row: T) => ReactNode;
  /** Sort key of a row. A column without it cannot be sorted. */
  sort?: (row: T) => string | number | undefined;
  isNumber?: boolean;
}

/** Sortable table. The URL parameter `sort` holds the column, with a leading `-` for descending order. */
export function DataTable<T>({ label, rows, columns, rowKey, current, head }: {
  label: string;
  rows: T[];
  columns: Column<T>[];
  rowKey: (row: T) => string | number;
  current?: (row: T) => boolean;
  /** Leading column for checkboxes. */
  head?: { title: ReactNode; cell: (row: T) => ReactNode };
}) {
  const [order, setOrder] = useParam("sort", "");
  const sorted = useMemo(() => sortRows(rows, columns, order), [rows, columns, order]);
  return (
    <div className="tablewrap">
      <table aria-label={label}>
        <thead>
          <tr>
            {head && <th className="checkbox">{head.title}</th>}
            {columns.map((column) => {
              const direction = order === column.id ? "ascending" : order === `-${column.id}` ? "descending" : "none";
              return (
                <th key={column.id} className={column.isNumber ? "num" : ""} aria-sort={column.sort ? direction : undefined}>
                  {column.sort ? (
                    <button
                      type="button"
                      onClick={() => setOrder(direction === "ascending" ? `-${column.id}` : column.id)}
                    >
                      {column.name}
                      {direction === "ascending" ? " ↑" : direction === "descending" ? " ↓" : ""}
                    </button>
                  ) : (
                    column.name
                  )}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {sorted.map((row) => (
            <tr key={rowKey(row)} className={current?.(row) ? "current" : ""}>
              {head && <td className="checkbox">{head.cell(row)}</td>}
              {columns.map((column) => (
                <td key={column.id} className={column.isNumber ? "num" : ""}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Sorts rows without a value last in both directions. */
export function sortRows<T>(rows: T[], columns: Pick<Column<T>, "id" | "sort">[], order: string): T[] {
  const isDescending = order.startsWith("-");
  const sortKey = columns.find((column) => column.id === (isDescending ? order.slice(1) : order))?.sort;
  if (!sortKey) return rows;
  const sign = isDescending ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [x, y] = [sortKey(a), sortKey(b)];
    if (x === undefined || y === undefined) return x === y ? 0 : x === undefined ? 1 : -1;
    const difference = typeof x === "number" && typeof y === "number" ? x - y : compareNatural(String(x), String(y));
    return difference * sign;
  });
}
