import { NavLink, Outlet } from "react-router";
import { useIdentity, usePermission } from "../../app/identity";
import { Loading } from "../../components/Loading";
import { EmptyState, PageHead } from "../../components/PageHead";

export default function Admin() {
  const identity = useIdentity();
  const isAdmin = usePermission("admin");
  if (identity.isPending) return <Loading />;
  return (
    <div className="page">
      <PageHead title="Admin" />
      {!isAdmin ? (
        <EmptyState title="Administrator role required">You are logged in as {identity.data?.name}. Log in as an administrator to open this page.</EmptyState>
      ) : (
        <>
          <nav className="tabs" aria-label="Admin">
            {[
              ["users", "Users"],
              ["tokens", "Tokens"],
              ["audit", "Audit log"],
              ["notifications", "Notifications"],
              ["about", "About"],
            ].map(([path = "", name]) => (
              <NavLink key={path} to={path} className={({ isActive }) => (isActive ? "active" : "")}>
                {name}
              </NavLink>
            ))}
          </nav>
          <Outlet />
        </>
      )}
    </div>
  );
}
