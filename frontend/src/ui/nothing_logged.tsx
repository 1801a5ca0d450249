/** What a lens says where no record of its kind is logged: how to log one. */

import type { Lens } from "../lib/state";
import { useSession } from "./session";
import { Empty } from "./states";

/** How each kind of record is logged: the next step for who has none. */
export const HOW_TO_LOG: Readonly<Record<Lens, string>> = {
  overview: "stepscope demo",
  views:
    'stepscope import trace.pt.trace.json --logdir LOGDIR\n\n# or from Python\nwith stepscope.Writer(LOGDIR) as writer:\n    writer.log_profile("trace.pt.trace.json", step=10)',
  throughput:
    'with stepscope.Writer(LOGDIR) as writer:\n    rate = writer.throughput("train", unit="samples", log_every=10)\n    for step, batch in enumerate(loader):\n        ...\n        rate.add(len(batch), step=step)',
  incore:
    "with stepscope.Writer(LOGDIR) as writer:\n    writer.log_incore(timing, columns=columns, participating=slots, producers=producers, step=step)",
  dcn: "stepscope import host0.xplane.pb host1.xplane.pb --logdir LOGDIR",
  findings: "stepscope demo",
};

const NOTHING: Readonly<Record<Lens, string>> = {
  overview: "Nothing is logged here yet",
  views: "No profile is logged here",
  throughput: "No throughput is logged here",
  incore: "No in-core timing is logged here",
  dcn: "No cross-slice collectives are logged here",
  findings: "Nothing is logged here that findings could stand on",
};

export function NothingLogged({ lens }: { lens: Lens }) {
  const session = useSession();
  const again = { label: "Look again", run: () => session.refresh() };
  return (
    <Empty title={NOTHING[lens]} code={HOW_TO_LOG[lens]} action={again}>
      Log it from your training loop or import a file, then reload.
    </Empty>
  );
}
