import { PageHead } from "../../components/PageHead";
import { RunList } from "../../components/RunList";

export default function Runs() {
  return (
    <div className="page">
      <PageHead title="Runs" />
      <RunList />
    </div>
  );
}
