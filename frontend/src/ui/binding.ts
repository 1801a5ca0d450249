/** Ties a session to its surroundings: the address, whether the tab is seen, and records that grow. */

import { effect } from "@preact/signals";
import { Address, addressWindow } from "../lib/address";
import { formatState, parseState } from "../lib/state";
import type { Session } from "./session";

const LIVE_POLL_MS = 3000;
/** Browsers refuse pages that write their address too often. */
const ADDRESS_WRITE_MS = 200;

/** The panel's state and its address follow each other. */
export function bindAddress(session: Session, own: Window): void {
  const address = new Address(addressWindow(own));
  const read = () => session.accept(parseState(address.read()));
  read();
  address.follow(read);
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    const values = formatState(session.state.value);
    clearTimeout(timer);
    timer = setTimeout(() => address.write(values), ADDRESS_WRITE_MS);
  });
}

/** A hidden tab has no size; it asks and draws nothing until it is seen again. */
export function bindVisibility(session: Session, own: Window): void {
  const tell = () => {
    session.visible.value = own.document.visibilityState === "visible" && own.innerHeight > 0 && own.innerWidth > 0;
  };
  own.addEventListener("resize", tell);
  own.document.addEventListener("visibilitychange", tell);
  tell();
}

/** While a record grows, the index is asked every few seconds. */
export function pollWhileLive(session: Session): void {
  setInterval(() => {
    const index = session.index.data.value;
    const grows = index?.runs.some((run) => run.records.some((record) => !record.closed)) ?? true;
    if (grows && session.visible.value && !session.index.loading.value) void session.index.load("index", true);
  }, LIVE_POLL_MS);
}
