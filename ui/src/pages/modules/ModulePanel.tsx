import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { Confirm } from "../../components/Confirm";
import { Panel } from "../../components/Panel";
import { Problem } from "../../components/Problem";
import { encoded } from "../../lib/modules";
import { remove, save, type Module } from "./api";
import { Carriers } from "./Carriers";

const ORDERS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

/** A module to be looked at or changed, or a new one. What only admins may say is not offered to others. */
export function ModulePanel({ module, mayWrite, isAdmin, choose }: { module?: Module; mayWrite: boolean; isAdmin: boolean; choose: (id: string) => void }) {
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
  const [isLeaving, setLeaving] = useState(false);
  const isOff = !mayWrite || (Boolean(module?.is_admin) && !isAdmin);
  const store = useMutation({
    mutationFn: () =>
      save(module?.id, {
        ...(module ? changed(module, { name, description: description || undefined, apply_order: order, live_update: isLive }) : { name, module_type: type, apply_order: order, live_update: isLive, ...(description && { description }) }),
        ...(contents && { contents: encoded(contents) }),
        // Only said where it differs: saying it at all takes the role of an admin.
        ...(isAdmin && isPriority !== Boolean(module?.priority_apply) && { priority_apply: isPriority }),
        ...(isAdmin && isAuto !== Boolean(module?.auto_apply) && { auto_apply: isAuto }),
        ...(isAdmin && isVisible !== (module ? Boolean(module.visible) : true) && { visible: isVisible }),
      }),
    onSuccess: async (saved) => {
      await queries.invalidateQueries({ queryKey: ["modules"] });
      choose(saved.id);
    },
  });
  const leave = useMutation({
    mutationFn: () => remove(module?.id ?? ""),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["modules"] });
      choose("");
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    store.mutate();
  };
  return (
    <Panel title={module?.name ?? "New module"} close={() => choose("")}>
      <form className="stack tight" onSubmit={submit} aria-label={module ? `Module ${module.name}` : "New module"}>
        <div className="field">
          <label htmlFor="module-name">Name</label>
          <input id="module-name" type="text" required disabled={isOff} value={name} onChange={(event) => setName(event.target.value)} />
        </div>
        <div className="field">
          <label htmlFor="module-type">Type</label>
          <input id="module-type" type="text" required disabled={isOff || module !== undefined} value={type} onChange={(event) => setType(event.target.value)} />
          <span className="hint">Which driver applies it.</span>
        </div>
        <div className="field">
          <label htmlFor="module-description">Description</label>
          <input id="module-description" type="text" disabled={isOff} value={description} onChange={(event) => setDescription(event.target.value)} />
        </div>
        <div className="field">
          <label htmlFor="module-contents">Contents</label>
          <textarea id="module-contents" rows={4} required={!module} disabled={isOff} placeholder={module ? "unchanged" : ""} value={contents} onChange={(event) => setContents(event.target.value)} />
          <span className="hint">Sealed when they are stored, and not shown again.</span>
        </div>
        <div className="field">
          <label htmlFor="module-order">Apply order</label>
          <select id="module-order" disabled={isOff} value={order} onChange={(event) => setOrder(Number(event.target.value))}>
            {ORDERS.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
          <span className="hint">0 is applied first, 9 last.</span>
        </div>
        <Flag name="May be changed while it is in use" checked={isLive} isOff={isOff} set={setLive} />
        {isAdmin && (
          <fieldset className="stack tight" style={{ border: 0, margin: 0, padding: 0 }}>
            <legend className="fieldname">For admins</legend>
            <Flag name="Priority apply" hint="Before all that have no priority, whatever their order." checked={isPriority} isOff={isOff} set={setPriority} />
            <Flag name="Apply by itself" hint="To every new node that it fits." checked={isAuto} isOff={isOff} set={setAuto} />
            <Flag name="Visible to users" checked={isVisible} isOff={isOff} set={setVisible} />
          </fieldset>
        )}
        {Boolean(module?.is_admin) && !isAdmin && <p className="muted">An admin's module: only admins change it.</p>}
        {store.isError && <Problem title="Not stored" error={store.error} />}
        {!isOff && (
          <div className="row">
            <button type="submit" className="button primary" disabled={store.isPending}>
              {module ? "Store" : "Make module"}
            </button>
            {module && (
              <button type="button" className="button danger" onClick={() => setLeaving(true)}>
                Delete…
              </button>
            )}
          </div>
        )}
      </form>
      {module && <Carriers module={module} mayWrite={mayWrite} />}
      {isLeaving && module && (
        <Confirm title={`Delete ${module.name}?`} action={`Delete ${module.name}`} isDanger isBusy={leave.isPending} error={leave.error ?? undefined} onConfirm={() => leave.mutate()} onClose={() => setLeaving(false)}>
          <p>A module that nodes carry cannot be deleted: take it off them first.</p>
        </Confirm>
      )}
    </Panel>
  );
}

function Flag({ name, hint, checked, isOff, set }: { name: string; hint?: string; checked: boolean; isOff: boolean; set: (value: boolean) => void }) {
  return (
    <label className="check">
      <input type="checkbox" checked={checked} disabled={isOff} onChange={(event) => set(event.target.checked)} />
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

/** What differs from what is stored. */
function changed(module: Module, wanted: Record<string, unknown>): Record<string, unknown> {
  const now: Record<string, unknown> = { ...module, live_update: Boolean(module.live_update), description: module.description ?? undefined };
  return Object.fromEntries(Object.entries(wanted).filter(([key, value]) => value !== now[key]));
}
