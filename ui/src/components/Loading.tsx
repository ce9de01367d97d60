/** Placeholder for a page that is loading. */
export function Loading({ rows = 6 }: { rows?: number }) {
  return (
    <div className="page" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className="skeleton" style={{ height: row === 0 ? 28 : 36, width: row === 0 ? 260 : "100%" }} />
      ))}
    </div>
  );
}

export function LoadingRows({ rows = 5 }: { rows?: number }) {
  return (
    <div className="stack tight" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className="skeleton" style={{ height: 32 }} />
      ))}
    </div>
  );
}
