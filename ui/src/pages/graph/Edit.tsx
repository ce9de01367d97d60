import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { Link, useNavigate, useParams } from "react-router";
import { asFailure, sendYaml } from "../../api/client";
import { Editor } from "../../components/Editor";
import { Loading } from "../../components/Loading";
import { PageHead } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { useClusterName } from "../../lib/clusterNames";
import { asMap } from "../../lib/json";
import { toYaml } from "../../lib/yamlWrite";
import { functionNames } from "../yaql/functions";
import { mergedTasks } from "./queries";

/** Delay between the last key press and validation. */
const VALIDATION_DELAY_MS = 600;
const EMPTY = `# Tasks to add to this cluster, or attributes that override those of its release.
- id: my-task
  type: shell
  version: 2.1.0
  roles: ["*"]
  requires: [deploy_start]
  required_for: [deploy_end]
  parameters:
    cmd: echo hello
    timeout: 60
`;

/** Editor of the cluster layer. The server validates the text in a dry run while the user types. */
export default function Edit() {
  const { id: idText, type = "default" } = useParams();
  const id = Number(idText);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const layer = useQuery(mergedTasks(id, type, "cluster"));
  const names = useQuery(functionNames);
  const clusterName = useClusterName(id);
  const [text, setText] = useState<string>();
  const [validationError, setValidationError] = useState<unknown>();
  const initial = useMemo(() => (layer.data ? (layer.data.length === 0 ? EMPTY : toYaml(layer.data.map(withoutDefaults))) : undefined), [layer.data]);
  const content = text ?? initial ?? "";
  const path = `/api/v1/clusters/${id}/deployment_tasks?graph_type=${encodeURIComponent(type)}`;

  useEffect(() => {
    if (text === undefined) return undefined;
    const timer = setTimeout(async () => {
      try {
        await sendYaml("PUT", `${path}&dry_run=1`, text);
        setValidationError(undefined);
      } catch (error) {
        setValidationError(error);
      }
    }, VALIDATION_DELAY_MS);
    return () => clearTimeout(timer);
  }, [text, path]);

  const save = useMutation({
    mutationFn: () => sendYaml("PUT", path, content),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["graph", id] });
      await queries.invalidateQueries({ queryKey: ["graphs"] });
      await navigate(`/clusters/${id}/graphs/${encodeURIComponent(type)}`);
    },
    onError: setValidationError,
  });
  if (layer.isPending) return <Loading />;
  if (layer.isError) {
    return (
      <div className="page">
        <Problem error={layer.error} retry={() => void layer.refetch()} />
      </div>
    );
  }
  const failure = validationError === undefined ? undefined : asFailure(validationError);
  const problems = new Map(failure?.items.filter((item) => item.line != null).map((item) => [item.line as number, item.message]));
  return (
    <div className="page">
      <PageHead
        title={`Cluster layer of graph ${type}`}
        crumbs={[
          ["Clusters", "/clusters"],
          [clusterName, `/clusters/${id}`],
          ["Graphs", `/clusters/${id}/graphs`],
          [type, `/clusters/${id}/graphs/${encodeURIComponent(type)}`],
        ]}
      >
        <Link className="button" to=".." relative="path">
          Cancel
        </Link>
        <button type="button" className="button primary" disabled={save.isPending || failure !== undefined} title={failure && "Fix the problems first"} onClick={() => save.mutate()}>
          Save
        </button>
      </PageHead>
      <p className="muted">A list of tasks in YAML. Each attribute set here overrides the same attribute of the release.</p>
      <div aria-live="polite">
        {failure ? <Problem title="Cannot be saved" error={failure} /> : text !== undefined && <p className="muted">No problems.</p>}
      </div>
      <Editor label={`Tasks of graph ${type} in YAML`} value={content} onChange={setText} problems={problems} names={names.data ?? []} />
    </div>
  );
}

/**
 * Drops attributes that this layer does not set. The server fills in defaults, and saving them would set
 * them.
 */
function withoutDefaults(task: unknown): Record<string, unknown> {
  const attributes = asMap(task);
  const provenance = asMap(attributes.provenance);
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => name === "id" || name in provenance));
}
