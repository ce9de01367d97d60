import { NotificationList } from "../../components/NotificationList";
import { Webhooks } from "./Webhooks";

/** What happened, and who else is told. */
export default function AdminNotifications() {
  return (
    <div className="stack">
      <NotificationList />
      <Webhooks />
    </div>
  );
}
