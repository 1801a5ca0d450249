/** TensorBoard's messages to a plugin's frame: JSON strings over a port that the frame offers. */

export type HostEvent = "DataReloaded" | "RunsChanged";

/** Offers TensorBoard a port and calls the listener for each event. Returns how to stop. */
export function connectHost(own: Window, listener: (event: HostEvent) => void): () => void {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data }) => {
    const type = eventType(data);
    if (type === "DataReloaded" || type === "RunsChanged") listener(type);
  };
  own.parent.postMessage("experimental.bootstrap", "*", [port2]);
  return () => port1.close();
}

/** The type of a message from TensorBoard, empty where it is none. */
export function eventType(data: unknown): string {
  try {
    const message: unknown = JSON.parse(String(data));
    return typeof message === "object" && message !== null && "type" in message ? String(message.type) : "";
  } catch {
    return "";
  }
}
