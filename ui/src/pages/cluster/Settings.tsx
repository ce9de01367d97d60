import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { api, data } from "../../api/client";
import { usePermission } from "../../app/identity";
import { LoadingRows } from "../../components/Loading";
import { EmptyState } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { count } from "../../lib/format";
import { useParam } from "../../lib/params";
import { formOf, patchOf, withChanges, type Section } from "../../lib/settings";
import { useCluster } from "./Cluster";
import { FieldInput } from "./FieldInput";

type Attributes = Parameters<typeof withChanges>[0];

export default function Settings() {
  const cluster = useCluster();
  const queries = useQueryClient();
  const canOperate = usePermission("operate");
  const [changes, setChanges] = useState<Record<string, unknown>>({});
  const [search, setSearch] = useParam("q", "");
  const [group, setGroup] = useParam("group", "");
  const key = ["clusters", cluster.id, "attributes"];
  const path = { params: { path: { id: cluster.id } } };
  const attributes = useQuery({ queryKey: key, queryFn: () => data(api.GET("/api/v1/clusters/{id}/attributes", path)) });
  const version = useQuery({ queryKey: ["version"], queryFn: () => data(api.GET("/api/v1/version")) });
  const save = useMutation({
    mutationFn: () => data(api.PUT("/api/v1/clusters/{id}/attributes", { ...path, body: { editable: patchOf(changes) } })),
    onSuccess: (saved) => {
      queries.setQueryData(key, saved);
      setChanges({});
    },
  });
  const sections = useMemo(() => {
    const editable = (attributes.data?.editable ?? {}) as Attributes;
    return formOf(withChanges(editable, changes), { ...cluster }, { ...version.data });
  }, [attributes.data, changes, cluster, version.data]);
  if (attributes.isPending) return <LoadingRows />;
  if (attributes.isError) return <Problem error={attributes.error} retry={() => void attributes.refetch()} />;
  if (sections.length === 0) return <EmptyState title="No settings">The release of this cluster declares no settings.</EmptyState>;

  const groups = [...new Set(sections.map((section) => section.group))];
  const searchText = search.toLowerCase();
  const matchingSections = sections
    .filter((section) => searchText !== "" || section.group === (group || groups[0]))
    .map((section) => ({ ...section, fields: section.fields.filter((field) => `${section.label} ${field.label} ${field.name}`.toLowerCase().includes(searchText)) }))
    .filter((section) => searchText === "" || section.fields.length > 0);
  const nChanges = Object.keys(changes).length;
  const hasProblem = sections.some((section) => section.fields.some((field) => field.problem));
  const set = (path: string, value: unknown) => setChanges((previous) => ({ ...previous, [path]: value }));
  return (
    <div className="stack">
      <div className="toolbar">
        <input type="search" aria-label="Search settings" placeholder="Search settings" value={search} onChange={(event) => setSearch(event.target.value)} />
        <span className="grow muted">{nChanges > 0 ? count(nChanges, "unsaved change") : ""}</span>
        {canOperate && (
          <>
            <button type="button" className="button" disabled={nChanges === 0} onClick={() => setChanges({})}>
              Discard changes
            </button>
            <button
              type="button"
              className="button primary"
              disabled={nChanges === 0 || hasProblem || save.isPending || cluster.is_locked}
              title={cluster.is_locked ? "The cluster is locked" : hasProblem ? "A value is invalid" : undefined}
              onClick={() => save.mutate()}
            >
              Save settings
            </button>
          </>
        )}
      </div>
      {save.isError && <Problem title="Settings not saved" error={save.error} />}
      {searchText === "" && groups.length > 1 && (
        <div className="tabs" role="tablist" aria-label="Setting groups">
          {groups.map((name) => (
            <button key={name} type="button" role="tab" aria-selected={name === (group || groups[0])} onClick={() => setGroup(name === groups[0] ? "" : name)}>
              {name.replaceAll("_", " ")}
            </button>
          ))}
        </div>
      )}
      {matchingSections.length === 0 && <EmptyState title={`No settings match “${search}”`}>Change or clear the search above.</EmptyState>}
      <div className="stack">
        {matchingSections.map((section) => (
          <SectionCard key={section.name} section={section} changes={changes} set={set} isReadOnly={!canOperate || cluster.is_locked} />
        ))}
      </div>
    </div>
  );
}

function SectionCard({ section, changes, set, isReadOnly }: {
  section: Section;
  changes: Record<string, unknown>;
  set: (path: string, value: unknown) => void;
  isReadOnly: boolean;
}) {
  const id = `section-${section.name}`;
  return (
    <section className="card stack tight" aria-labelledby={id} style={{ maxWidth: 860 }}>
      <div className="row">
        {section.isToggleable && (
          <input
            type="checkbox"
            aria-label={`Enable ${section.label}`}
            checked={section.isEnabled}
            disabled={isReadOnly || section.disabled !== undefined}
            onChange={(event) => set(section.name, event.target.checked)}
          />
        )}
        <h2 id={id}>{section.label}</h2>
        {section.disabled && <span className="muted">{section.disabled}</span>}
      </div>
      {section.isEnabled &&
        section.fields.map((field) => (
          <FieldInput
            key={field.name}
            field={field}
            isChanged={`${section.name}.${field.name}` in changes}
            isReadOnly={isReadOnly}
            onChange={(value) => set(`${section.name}.${field.name}`, value)}
          />
        ))}
    </section>
  );
}
