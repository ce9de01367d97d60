import { useEffect, type ReactNode } from "react";
import { Link } from "react-router";

export type Crumb = [name: string, to: string];

export function PageHead({ title, crumbs = [], aside, children }: {
  title: string;
  crumbs?: Crumb[];
  aside?: ReactNode;
  children?: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Stoker`;
  }, [title]);
  return (
    <div className="pagehead">
      <div className="grow">
        {crumbs.length > 0 && (
          <nav aria-label="Breadcrumb" className="crumbs">
            {crumbs.map(([name, to]) => (
              <span key={to}>
                <Link to={to}>{name}</Link>
              </span>
            ))}
          </nav>
        )}
        <div className="row">
          <h1>{title}</h1>
          {aside}
        </div>
      </div>
      <div className="row">{children}</div>
    </div>
  );
}

export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <strong>{title}</strong>
      {children && <div>{children}</div>}
    </div>
  );
}
