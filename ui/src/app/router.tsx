import { lazy, type ComponentType } from "react";
import { createBrowserRouter, Link, Navigate, useRouteError } from "react-router";
import { PageHead } from "../components/PageHead";
import { Problem } from "../components/Problem";
import { connection } from "./connection";
import { Layout } from "./Layout";

/** Loads a page when it is first opened. While the server is unreachable, waits for it. */
function page(load: () => Promise<{ default: ComponentType }>) {
  const Page = lazy(async () => {
    try {
      return await load();
    } catch (error) {
      // The server is reachable but the file is gone: the UI was rebuilt, so the user has to reload.
      if (await connection.isReachable()) throw error;
      await connection.waitUntilRestored();
      // Browsers cache a failed module import; only a reload fetches it again.
      location.reload();
      return new Promise<never>(() => undefined);
    }
  });
  return <Page />;
}

export const router = createBrowserRouter([
  {
    path: "/",
    element: <Layout />,
    errorElement: <RouteError />,
    children: [
      { index: true, element: <Navigate to="/clusters" replace /> },
      { path: "clusters", element: page(() => import("../pages/Clusters")) },
      { path: "clusters/new", element: page(() => import("../pages/wizard/NewCluster")) },
      {
        path: "clusters/:id",
        element: page(() => import("../pages/cluster/Cluster")),
        children: [
          { index: true, element: page(() => import("../pages/cluster/Overview")) },
          { path: "nodes", element: page(() => import("../pages/cluster/Nodes")) },
          { path: "settings", element: page(() => import("../pages/cluster/Settings")) },
          { path: "plugins", element: page(() => import("../pages/cluster/Plugins")) },
          { path: "graphs", element: page(() => import("../pages/cluster/Graphs")) },
          { path: "plans", element: page(() => import("../pages/cluster/Plans")) },
          { path: "runs", element: page(() => import("../pages/cluster/ClusterRuns")) },
        ],
      },
      { path: "clusters/:id/graphs/:type", element: page(() => import("../pages/graph/Graph")) },
      { path: "clusters/:id/graphs/:type/edit", element: page(() => import("../pages/graph/Edit")) },
      { path: "plans/:id", element: page(() => import("../pages/plan/Plan")) },
      { path: "runs", element: page(() => import("../pages/run/Runs")) },
      { path: "runs/compare", element: page(() => import("../pages/run/Compare")) },
      { path: "runs/:id", element: page(() => import("../pages/run/Run")) },
      { path: "yaql", element: page(() => import("../pages/yaql/Yaql")) },
      { path: "modules", element: page(() => import("../pages/modules/Modules")) },
      {
        path: "admin",
        element: page(() => import("../pages/admin/Admin")),
        children: [
          { index: true, element: <Navigate to="/admin/users" replace /> },
          { path: "users", element: page(() => import("../pages/admin/Users")) },
          { path: "tokens", element: page(() => import("../pages/admin/Tokens")) },
          { path: "audit", element: page(() => import("../pages/admin/Audit")) },
          { path: "notifications", element: page(() => import("../pages/admin/Notifications")) },
          { path: "about", element: page(() => import("../pages/admin/About")) },
        ],
      },
      { path: "notifications", element: page(() => import("../pages/Notifications")) },
      { path: "account", element: page(() => import("../pages/Account")) },
      { path: "*", element: <NotFound /> },
    ],
  },
]);

function NotFound() {
  return (
    <div className="page">
      <PageHead title="Page not found" />
      <p>
        <Link to="/clusters">Go to clusters</Link>
      </p>
    </div>
  );
}

/** Shown for an exception during rendering, and for a page whose code could not be fetched. */
function RouteError() {
  const error = useRouteError();
  return (
    <div className="page">
      <Problem title="Cannot show this page" error={error} retry={() => location.reload()} />
    </div>
  );
}
