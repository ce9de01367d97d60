import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { Confirm } from "../../components/Confirm";
import { Panel } from "../../components/Panel";
import { Problem } from "../../components/Problem";
import { encodeContents } from "../../lib/modules";
import { releaseList, remove, save, type Module, type Release } from "./api";
import { ModuleNodes } from "./ModuleNodes";

const ORDERS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

/** Form of an existing or a new module. Options of administrators are hidden from other users. */
export function ModulePanel({ module, canWrite, isAdmin, select }: { module?: Module; canWrite: boolean; isAdmin: boolean; select: (id: string) => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState(module?.name ?? "");
  const [type, setType] = useState(module?.type ?? "ping");
  const [description, setDescription] = useState(module?.description ?? "");
  const [contents, setContents] = useState("");
  const [order, setOrder] = useState(module?.apply_order ?? 5);
  const [isPriority, setPriority] = useState(Boolean(module?.priority_apply));
  const [isAuto, setAuto] = useState(Boolean(module?.auto_apply));
  const [isVisible, setVisible] = useState(module ? Boolean(module.visible) : true);
  const [isLive, setLive] = useState(Boolean(module?.live_update));
  const storedRelease = module && module.datastore !== "all" ? JSON.stringify([module.datastore, ...(module.datastore_version === "all" ? [] : [module.datastore_version])]) : "";
  const [release, setRelease] = useState(storedRelease);
  const [isForAllTenants, setForAllTenants] = useState(module?.tenant === "all");
  const hasFullAccess = module !== undefined && !module.is_admin;
  const [isFullAccess, setFullAccess] = useState(hasFullAccess);
  const releases = useQuery(releaseList);
  const [isDeleting, setDeleting] = useState(false);
  const isReadOnly = !canWrite || (Boolean(module?.is_admin) && !isAdmin);
  const saveModule = useMutation({
    mutationFn: () =>
      save(module?.id, {
        ...(module ? changedValues(module, { name, description: description || undefined, apply_order: order, live_update: isLive }) : { name, module_type: type, apply_order: order, live_update: isLive, ...(description && { description }) }),
        ...(contents && { contents: encodeContents(contents) }),
        ...(release !== storedRelease && releaseFields(release, module === undefined)),
        // Sent only if changed: the server rejects these keys from other users, even with their current
        // values.
        ...(isAdmin && isPriority !== Boolean(module?.priority_apply) && { priority_apply: isPriority }),
        ...(isAdmin && isAuto !== Boolean(module?.auto_apply) && { auto_apply: isAuto }),
        ...(isAdmin && isForAllTenants !== (module?.tenant === "all") && { all_tenants: isForAllTenants }),
        ...(isAdmin && isFullAccess !== hasFullAccess && { full_access: isFullAccess }),
        ...(isAdmin && isVisible !== (module ? Boolean(module.visible) : true) && { visible: isVisible }),
      }),
    onSuccess: async (saved) => {
      await queries.invalidateQueries({ queryKey: ["modules"] });
      select(saved.id);
    },
  });
  const deleteModule = useMutation({
    mutationFn: () => remove(module?.id ?? ""),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["modules"] });
      select("");
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saveModule.mutate();
  };
  return (
    <Panel title={module?.name ?? "New module"} close={() => select("")}>
      <form className="stack tight" onSubmit={submit} aria-label={module ? `Module ${module.name}` : "New module"}>
        <div className="field">
          <label htmlFor="module-name">Name</label>
          <input id="module-name" type="text" required disabled={isReadOnly} value={name} onChange={(event) => setName(event.target.value)} />
        </div>
        <div className="field">
          <label htmlFor="module-type">Type</label>
          <input id="module-type" type="text" required disabled={isReadOnly || module !== undefined} value={type} onChange={(event) => setType(event.target.value)} />
          <span className="hint">Selects the driver that applies the module.</span>
        </div>
        <div className="field">
          <label htmlFor="module-description">Description</label>
          <input id="module-description" type="text" disabled={isReadOnly} value={description} onChange={(event) => setDescription(event.target.value)} />
        </div>
        <div className="field">
          <label htmlFor="module-contents">Contents</label>
          <textarea id="module-contents" rows={4} required={!module} disabled={isReadOnly} placeholder={module ? "unchanged" : ""} value={contents} onChange={(event) => setContents(event.target.value)} />
          <span className="hint">Stored encrypted and not shown again.</span>
        </div>
        <div className="field">
          <label htmlFor="module-release">Release</label>
          <select id="module-release" disabled={isReadOnly} value={release} onChange={(event) => setRelease(event.target.value)}>
            <option value="">All releases</option>
            {releaseOptions(releases.data ?? [], storedRelease).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
          <span className="hint">Only nodes of clusters of this release can have the module.</span>
        </div>
        <div className="field">
          <label htmlFor="module-order">Apply order</label>
          <select id="module-order" disabled={isReadOnly} value={order} onChange={(event) => setOrder(Number(event.target.value))}>
            {ORDERS.map((value) => (
              <option key={value} value={value}>
                {value}
              </option>
            ))}
          </select>
          <span className="hint">0 is applied first, 9 last.</span>
        </div>
        <Flag name="Allow changes while applied to nodes" checked={isLive} isReadOnly={isReadOnly} set={setLive} />
        {isAdmin && (
          <fieldset className="stack tight" style={{ border: 0, margin: 0, padding: 0 }}>
            <legend className="fieldname">Administrator options</legend>
            <Flag name="Priority apply" hint="Applied before modules without priority, regardless of order." checked={isPriority} isReadOnly={isReadOnly} set={setPriority} />
            <Flag name="Auto-apply" hint="Applied to each new node that it matches." checked={isAuto} isReadOnly={isReadOnly} set={setAuto} />
            <Flag name="All tenants" hint="Nodes of every tenant can have the module." checked={isForAllTenants} isReadOnly={isReadOnly} set={setForAllTenants} />
            <Flag name="Full access" hint="The module belongs to its tenant, whose users can change it. Not possible with other administrator options." checked={isFullAccess} isReadOnly={isReadOnly} set={setFullAccess} />
            <Flag name="Visible to users" checked={isVisible} isReadOnly={isReadOnly} set={setVisible} />
          </fieldset>
        )}
        {Boolean(module?.is_admin) && !isAdmin && <p className="muted">Only administrators can change this module.</p>}
        {saveModule.isError && <Problem title="Module not saved" error={saveModule.error} />}
        {!isReadOnly && (
          <div className="row">
            <button type="submit" className="button primary" disabled={saveModule.isPending}>
              {module ? "Save" : "Create module"}
            </button>
            {module && (
              <button type="button" className="button danger" onClick={() => setDeleting(true)}>
                Delete…
              </button>
            )}
          </div>
        )}
      </form>
      {module && <ModuleNodes module={module} canWrite={canWrite} />}
      {isDeleting && module && (
        <Confirm title={`Delete module ${module.name}?`} action={`Delete ${module.name}`} isDanger isBusy={deleteModule.isPending} error={deleteModule.error ?? undefined} onConfirm={() => deleteModule.mutate()} onClose={() => setDeleting(false)}>
          <p>The module and its contents are deleted. A module that is applied to nodes can be deleted only if it allows changes while applied.</p>
        </Confirm>
      )}
    </Panel>
  );
}

function Flag({ name, hint, checked, isReadOnly, set }: { name: string; hint?: string; checked: boolean; isReadOnly: boolean; set: (value: boolean) => void }) {
  return (
    <label className="check">
      <input type="checkbox" checked={checked} disabled={isReadOnly} onChange={(event) => set(event.target.checked)} />
      <span>
        {name}
        {hint && (
          <>
            <br />
            <span className="muted small-text">{hint}</span>
          </>
        )}
      </span>
    </label>
  );
}

/** Values of the selection with labels: each release in all versions, and each version. A release that does not exist any more is kept. */
function releaseOptions(releases: Release[], stored: string): [string, string][] {
  const options = releases.flatMap(({ name, versions }): [string, string][] => [
    [JSON.stringify([name]), `${name}, all versions`],
    ...versions.map((version): [string, string] => [JSON.stringify([name, version.name]), `${name} ${version.name}`]),
  ]);
  const isKnown = stored === "" || options.some(([value]) => value === stored);
  return isKnown ? options : [[stored, (JSON.parse(stored) as string[]).join(" ")], ...options];
}

/** Request fields for a selected release; the names of the API are those of Trove. */
function releaseFields(release: string, isNew: boolean): Record<string, unknown> {
  if (release === "") return { all_datastores: true, all_datastore_versions: true };
  const [type, version] = JSON.parse(release) as string[];
  if (version) return { datastore: { type, version } };
  return isNew ? { datastore: { type } } : { datastore: { type }, all_datastore_versions: true };
}

/** Values that differ from those of the stored module. */
function changedValues(module: Module, values: Record<string, unknown>): Record<string, unknown> {
  const stored: Record<string, unknown> = { ...module, live_update: Boolean(module.live_update), description: module.description ?? undefined };
  return Object.fromEntries(Object.entries(values).filter(([key, value]) => value !== stored[key]));
}
