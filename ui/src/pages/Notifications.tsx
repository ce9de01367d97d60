import { NotificationList } from "../components/NotificationList";
import { PageHead } from "../components/PageHead";

export default function Notifications() {
  return (
    <div className="page">
      <PageHead title="Notifications" />
      <NotificationList />
    </div>
  );
}
