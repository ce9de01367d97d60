import { NavLink, Outlet } from "react-router";
import { useIdentity, useMay } from "../../app/identity";
import { Loading } from "../../components/Loading";
import { Empty, PageHead } from "../../components/PageHead";

export default function Admin() {
  const identity = useIdentity();
  const isAdmin = useMay("admin");
  if (identity.isPending) return <Loading />;
  return (
    <div className="page">
      <PageHead title="Admin" />
      {!isAdmin ? (
        <Empty title="This is for administrators">You are logged in as {identity.data?.name}.</Empty>
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
