import { RunList } from "../../components/RunList";
import { useCluster } from "./Cluster";

export default function ClusterRuns() {
  return <RunList clusterId={useCluster().id} />;
}
