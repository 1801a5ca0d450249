/** What stands where data would: loading, nothing, or an error; each says which it is and what to do next. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { RequestError } from "../lib/api";
import type { Problem } from "../lib/documents";
import type { Resource } from "./resource";

interface EmptyProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly code?: string;
  readonly action?: { readonly label: string; run(): void };
}

export function Empty({ title, children, code, action }: EmptyProps) {
  return (
    <section class="empty">
      <h2>{title}</h2>
      {children !== undefined && <p>{children}</p>}
      {code !== undefined && <CodeBlock code={code} />}
      {action !== undefined && (
        <button type="button" class="button primary" onClick={() => action.run()}>
          {action.label}
        </button>
      )}
    </section>
  );
}

export function CodeBlock({ code }: { code: string }) {
  return (
    <div class="code">
      <pre tabIndex={0}>{code}</pre>
      <CopyButton text={code} label="Copy" />
    </div>
  );
}

interface CopyProps {
  /** Worked out when it is copied where it is long. */
  readonly text: string | (() => string);
  readonly label: string;
}

export function CopyButton({ text, label }: CopyProps) {
  const [copied, setCopied] = useState(false);
  const copy = () => {
    copyText(typeof text === "string" ? text : text());
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <button type="button" class="button" onClick={copy}>
      {copied ? "Copied" : label}
    </button>
  );
}

/** Copies a text, also where the page is not served securely and has no clipboard. */
export function copyText(text: string): void {
  if (navigator.clipboard !== undefined) {
    navigator.clipboard.writeText(text).catch(() => copyBySelection(text));
  } else {
    copyBySelection(text);
  }
}

function copyBySelection(text: string): void {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "offscreen";
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

export function Failure({ error, retry }: { error: RequestError; retry?: () => void }) {
  const details = `${error.found}\nat ${error.where}\n${error.remedy}`;
  return (
    <section class="failure" role="alert">
      <h2>{sentence(error.found)}</h2>
      <p>{sentence(error.remedy)}</p>
      <p class="muted where">{error.where}</p>
      <div class="buttons">
        {retry !== undefined && (
          <button type="button" class="button primary" onClick={retry}>
            Try again
          </button>
        )}
        <CopyButton text={details} label="Copy details" />
      </div>
    </section>
  );
}

function sentence(text: string): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capital) || capital === "" ? capital : `${capital}.`;
}

export function Skeleton() {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {[92, 76, 84, 58, 70, 44, 62, 38].map((width) => (
        <div key={width} style={{ width: `${width}%` }} />
      ))}
    </div>
  );
}

/** A line along the top while what is shown is about to be replaced. */
export function Busy({ on }: { readonly on: boolean }) {
  return on ? <div class="busy" role="status" aria-label="Loading" /> : null;
}

interface LoadedProps<T> {
  readonly resource: Resource<T>;
  readonly children: (data: T) => ComponentChildren;
}

/** The data of a resource once it is there; until then a skeleton. An error stands above what was there before. */
export function Loaded<T>({ resource, children }: LoadedProps<T>) {
  const data = resource.data.value;
  const error = resource.error.value;
  return (
    <>
      {error !== null && <Failure error={error} retry={() => resource.reload()} />}
      {data !== null && <Busy on={resource.slow.value} />}
      {data !== null && children(data)}
      {data === null && error === null && resource.slow.value && <Skeleton />}
    </>
  );
}

/** What could not be read, folded to one line. */
export function Problems({ problems }: { problems: readonly Problem[] }) {
  const [first] = problems;
  if (first === undefined) return null;
  const total = problems.length;
  return (
    <details class="notice warning">
      <summary>{total === 1 ? problemLine(first) : `${total} problems while reading: ${problemLine(first)}`}</summary>
      <ul>
        {problems.slice(0, 100).map((problem) => (
          <li key={`${problem.run}|${problem.where}|${problem.what}`}>
            {problemLine(problem)} {problem.remedy && <span class="muted">{sentence(problem.remedy)}</span>}
            {problem.where && <div class="muted where">{problem.where}</div>}
          </li>
        ))}
        {total > 100 && <li class="muted">and {total - 100} more</li>}
      </ul>
    </details>
  );
}

function problemLine({ run, what, count }: Problem): string {
  const times = count !== null && count !== undefined && count > 1 ? ` (${count.toLocaleString()}×)` : "";
  return run ? `${run}: ${what}${times}.` : sentence(what + times);
}

export function Notices({ notices, dismiss }: { notices: readonly string[]; dismiss: () => void }) {
  if (notices.length === 0) return null;
  return (
    <div class="notice" role="status">
      <div>
        {notices.map((notice) => (
          <div key={notice}>{notice}</div>
        ))}
      </div>
      <button type="button" class="icon-button" aria-label="Dismiss" onClick={dismiss}>
        ×
      </button>
    </div>
  );
}
