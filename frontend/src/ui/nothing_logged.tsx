/** What a lens says where no record of its kind is logged: how to log one. */

import { infoOf } from "../lib/selection";
import type { Lens } from "../lib/state";
import { useSession } from "./session";
import { Empty } from "./states";

/** How records of a lens are logged: the next step where there are none. */
export function howToLog(lens: Lens): string {
  return infoOf(lens)?.howToLog ?? "stepscope demo";
}

function nothingLogged(lens: Lens): string {
  const title = lens === "overview" ? "Nothing is logged here yet" : "No data for findings yet";
  return infoOf(lens)?.nothingLogged ?? title;
}

export function NothingLogged({ lens }: { lens: Lens }) {
  const session = useSession();
  const again = { label: "Look again", run: () => session.refresh() };
  return (
    <Empty title={nothingLogged(lens)} code={howToLog(lens)} action={again}>
      Log it from your training loop or import a file, then reload.
    </Empty>
  );
}
