import { describe, expect, test } from "vitest";
import { address, type Fetch, RequestError, request } from "../../src/lib/api";

const never = new AbortController().signal;
const answering =
  (body: string, status = 200): Fetch =>
  async () =>
    new Response(body, { status });

describe("address", () => {
  test("leaves out what is empty and repeats lists", () => {
    expect(address("views", { run: "a b", step: "", name: null, toggled: [1, 2] })).toBe(
      "views?run=a+b&toggled=1&toggled=2",
    );
    expect(address("index")).toBe("index");
  });

  test("keeps zero, which is a value", () => {
    expect(address("views", { root: 0 })).toBe("views?root=0");
  });
});

describe("request", () => {
  test("gives the document", async () => {
    expect(await request(answering('{"a":1}'), "index", never)).toEqual({ a: 1 });
  });

  test("says what the server found, where, and what to do", async () => {
    const body = JSON.stringify({ error: { found: "no run 'x'", where: "runs", remedy: "Choose a" } });
    const error = await request(answering(body, 404), "views?run=x", never).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(RequestError);
    expect(error).toMatchObject({ found: "no run 'x'", where: "runs", remedy: "Choose a", status: 404 });
  });

  test("says so where an error is no document", async () => {
    await expect(request(answering("<html>", 502), "index", never)).rejects.toMatchObject({ status: 502 });
  });

  test("says so where the answer is no JSON", async () => {
    await expect(request(answering("oops"), "index", never)).rejects.toMatchObject({ found: "the answer is no JSON" });
  });

  test("says so where nothing answers", async () => {
    const dead: Fetch = () => Promise.reject(new TypeError("Failed to fetch"));
    await expect(request(dead, "index", never)).rejects.toMatchObject({ found: "TensorBoard did not answer" });
  });

  test("lets an abort through", async () => {
    const aborted: Fetch = () => Promise.reject(new DOMException("", "AbortError"));
    await expect(request(aborted, "index", never)).rejects.toMatchObject({ name: "AbortError" });
  });
});
