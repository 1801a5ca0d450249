// @vitest-environment happy-dom

import { expect, test, vi } from "vitest";
import { connectHost, eventType } from "../../src/lib/host";
import { followTheme } from "../../src/lib/theme";

test("messages that are none of TensorBoard's are left alone", () => {
  expect(eventType('{"type":"DataReloaded","payload":null}')).toBe("DataReloaded");
  expect(eventType("no json")).toBe("");
  expect(eventType("7")).toBe("");
});

test("offers TensorBoard a port, and hears of new data and runs", async () => {
  let port: MessagePort | undefined;
  const parent = { postMessage: (_: string, __: string, ports: MessagePort[]) => ([port] = ports) };
  const heard: string[] = [];
  const stop = connectHost({ parent } as unknown as Window, (event) => heard.push(event));
  for (const type of ["DataReloaded", "Other", "RunsChanged"]) port?.postMessage(JSON.stringify({ type }));
  await vi.waitFor(() => expect(heard).toEqual(["DataReloaded", "RunsChanged"]));
  stop();
});

test("follows the class on TensorBoard's body", async () => {
  const parent = { document: { body: document.createElement("body") } };
  const seen: string[] = [];
  const stop = followTheme({ parent } as unknown as Window, (theme) => seen.push(theme));
  parent.document.body.classList.add("dark-mode");
  await vi.waitFor(() => expect(seen).toEqual(["light", "dark"]));
  stop();
});
