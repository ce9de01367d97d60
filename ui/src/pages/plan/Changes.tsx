import { Link } from "react-router";
import { useInfiniteQuery } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";
import { LoadingRows } from "../../components/Loading";
import { MessageText } from "../../components/MessageText";
import { EmptyState } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { Time } from "../../components/Time";
import { count } from "../../lib/format";
import { useNodeNames } from "../../lib/nodeNames";
import { diffLines } from "../../lib/diffLines";

const PAGE = 100;

/** What a plan changes: instances that run, grouped over equal nodes, with their inputs old and new. */
export function Changes({ plan }: { plan: Schemas["PlanSummary"] }) {
  const groups = useInfiniteQuery({
    queryKey: ["plans", "by-id", plan.id, "differences"],
    enabled: plan.n_run > 0,
    initialPageParam: 0,
    queryFn: ({ pageParam }) =>
      data(api.GET("/api/v1/plans/{id}/differences", { params: { path: { id: plan.id }, query: { limit: PAGE, offset: pageParam } } })),
    getNextPageParam: (last, pages) => (last.length < PAGE ? undefined : pages.length * PAGE),
  });
  const items = groups.data?.pages.flat() ?? [];
  const nameOf = useNodeNames(items.flatMap((group) => group.nodes));
  if (plan.n_run === 0) return plan.removals.length > 0 ? <Removals plan={plan} /> : <NoChanges plan={plan} />;
  if (groups.isPending) return <LoadingRows rows={4} />;
  if (groups.isError) return <Problem error={groups.error} retry={() => void groups.refetch()} />;
  return (
    <section className="stack" aria-label="Changes">
      {plan.removals.length > 0 && <Removals plan={plan} />}
      {items.map((group, index) => (
        <Group key={index} group={group} nameOf={nameOf} />
      ))}
      {groups.hasNextPage && (
        <button type="button" className="button" disabled={groups.isFetchingNextPage} onClick={() => void groups.fetchNextPage()}>
          Show more changes
        </button>
      )}
    </section>
  );
}

/** Nodes that leave the cluster when the plan is applied. */
function Removals({ plan }: { plan: Schemas["PlanSummary"] }) {
  const nodes = plan.removals.map(String);
  const nameOf = useNodeNames(nodes);
  return (
    <article className="card" aria-label="Removed nodes">
      {nodes.map(nameOf).join(", ")} {nodes.length === 1 ? "leaves" : "leave"} the cluster
      {plan.parent_id != null && (
        <>
          {" "}
          after the graph deletion: <Link to={`/plans/${plan.parent_id}`}>plan #{plan.parent_id}</Link>
        </>
      )}
      .
    </article>
  );
}

function Group({ group, nameOf }: { group: Schemas["PlanDifference"]; nameOf: (node: string) => string }) {
  const nMore = group.n_nodes - group.nodes.length;
  const nHidden = group.n_differences - group.differences.length;
  return (
    <article className="card stack tight" aria-label={`Changes of ${group.task}`}>
      <div className="row">
        <strong>
          <code>{group.task}</code>
        </strong>
        <span className="muted">
          on {group.nodes.map(nameOf).join(", ")}
          {nMore > 0 && ` and ${nMore.toLocaleString("en-US")} more`}
        </span>
      </div>
      <p>
        <MessageText text={group.reason} />
      </p>
      {group.differences.map((difference) => (
        <div key={difference.path}>
          <code>{difference.path}</code>
          {diffLines(difference.old, difference.new).map((line, index) => (
            <pre key={index} className={line.kind === "del" ? "diff-del" : line.kind === "add" ? "diff-add" : undefined}>
              {line.kind === "del" ? "−" : line.kind === "add" ? "+" : " "} {line.text}
            </pre>
          ))}
        </div>
      ))}
      {nHidden > 0 && <span className="muted">and {count(nHidden, "more difference")}</span>}
    </article>
  );
}

/** Claims a match only for nodes that were planned. */
function NoChanges({ plan }: { plan: Schemas["PlanSummary"] }) {
  const offline = plan.excluded.filter((group) => group.offline);
  const nameOf = useNodeNames(offline.flatMap((group) => group.nodes));
  const nOffline = offline.reduce((sum, group) => sum + group.n_nodes, 0);
  const names = offline.flatMap((group) => group.nodes.map(nameOf)).join(", ");
  const nodes = count(plan.n_nodes ?? 0, "node");
  const isOne = nOffline === 1;
  let title = `No changes: ${nodes} ${plan.n_nodes === 1 ? "matches its" : "match their"} configuration`;
  if (!plan.n_nodes) title = nOffline > 0 ? `No nodes were planned: ${names} ${isOne ? "is" : "are"} offline` : "No changes: no nodes were planned";
  else if (nOffline > 0) title = `No changes on ${nodes}; ${names} ${isOne ? "is offline and was" : "are offline and were"} not planned`;
  return (
    <EmptyState title={title}>
      {plan.last_applied_at ? (
        <>
          Last applied <Time at={plan.last_applied_at} />.
        </>
      ) : (
        "This graph has not been applied successfully yet."
      )}
    </EmptyState>
  );
}
