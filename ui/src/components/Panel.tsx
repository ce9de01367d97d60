import type { ReactNode } from "react";

/** Side panel with the details of the selected item. */
export function Panel({ title, aside, close, children }: {
  title: string;
  aside?: ReactNode;
  close: () => void;
  children: ReactNode;
}) {
  return (
    <aside className="panel" aria-label={title}>
      <div className="row">
        <h2 className="grow ellipsis" title={title}>
          {title}
        </h2>
        {aside}
        <button type="button" className="button quiet small" aria-label="Close panel" data-closes-panel onClick={close}>
          ✕
        </button>
      </div>
      {children}
    </aside>
  );
}
