import { NotificationList } from "../../components/NotificationList";
import { Webhooks } from "./Webhooks";

/** Notifications, and the webhooks that receive them. */
export default function AdminNotifications() {
  return (
    <div className="stack">
      <NotificationList />
      <Webhooks />
    </div>
  );
}
