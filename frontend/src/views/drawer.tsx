import type { NodeDocument, RowsDocument, Shape, ViewColumn } from "../lib/documents";
import { exact, format, percent } from "../lib/units";
import { Fact } from "../ui/facts";
import { useSession } from "../ui/session";
import { CopyButton, copyText, Loaded } from "../ui/states";
import { figureOf, quantityOf, rowName, wholeOf } from "./columns";
import type { Documents } from "./documents";

const MOST_SHOWN = 40;

/** All that is known of the selected row. */
export function Drawer({ documents, head }: { documents: Documents; head: RowsDocument }) {
  const session = useSession();
  const close = () => session.update({ drawer: "" });
  return (
    <aside class="drawer" aria-label="Details of the selected row">
      <Loaded resource={documents.node}>
        {(node) => (
          <>
            <div class="drawer-head">
              <h2>{rowName(node.path || node.name)}</h2>
              <button type="button" class="icon-button" aria-label="Close details" title="d" onClick={close}>
                ×
              </button>
            </div>
            <div class="buttons">
              <button type="button" class="button" onClick={() => session.update({ root: node.id })}>
                Start from here
              </button>
              <CopyButton text={node.path || node.name} label="Copy name" />
            </div>
            <Words node={node} />
            <Figures node={node} head={head} />
            <Devices node={node} />
            <Neighbours node={node} />
            <Costliest node={node} />
            <Code node={node} />
          </>
        )}
      </Loaded>
    </aside>
  );
}

function Words({ node }: { node: NodeDocument }) {
  const facts: [string, string][] = [
    ["op", node.op ?? ""],
    ["types", (node.op_types ?? []).filter((type) => type !== node.op).join(", ")],
    ["device", (node.devices ?? []).join(", ")],
    ["shape", node.shape === undefined || node.shape === "unknown" ? "" : shapeText(node.shape)],
    ["nodes", (node.n_graph_nodes ?? 0) > 1 ? (node.n_graph_nodes ?? 0).toLocaleString() : ""],
  ];
  const known = facts.filter(([, value]) => value !== "");
  if (known.length === 0) return null;
  return (
    <section>
      <dl class="facts words">
        {known.map(([name, value]) => (
          <Fact key={name} name={name} value={value} />
        ))}
      </dl>
    </section>
  );
}

function Figures({ node, head }: { node: NodeDocument; head: RowsDocument }) {
  const shown = head.columns.filter(({ name }) => figureOf(node, name) !== null && figureOf(node, name) !== 0);
  if (shown.length === 0) return null;
  return (
    <section>
      <h3>Figures</h3>
      <dl class="facts">
        {shown.map((column) => (
          <FigureFact key={column.name} column={column} node={node} head={head} />
        ))}
      </dl>
    </section>
  );
}

interface FigureFactProps {
  readonly column: ViewColumn;
  readonly node: NodeDocument;
  readonly head: RowsDocument;
}

function FigureFact({ column, node, head }: FigureFactProps) {
  const quantity = quantityOf(column.unit);
  const value = figureOf(node, column.name);
  const whole = figureOf(head.root, wholeOf(column.name));
  const share = whole ? ` · ${percent(value, whole)}` : "";
  const title = `${column.help} ${exact(quantity, value)}`;
  return <Fact name={column.title} value={format(quantity, value) + share} title={title} />;
}

function Devices({ node }: { node: NodeDocument }) {
  const times = node.device_times ?? [];
  if (times.length === 0) return null;
  return (
    <section>
      <h3>By device</h3>
      <dl class="facts">
        {times.slice(0, MOST_SHOWN).map(({ device, lane, micros, executions }) => (
          <Fact
            key={`${device} ${lane}`}
            name={[device, lane].filter(Boolean).join(" · ")}
            value={`${format("micros", micros)} · ${executions.toLocaleString()}×`}
          />
        ))}
      </dl>
    </section>
  );
}

/** What feeds the node, and what it feeds; each is a search away. */
function Neighbours({ node }: { node: NodeDocument }) {
  const inputs = node.inputs ?? [];
  const outputs = node.outputs ?? [];
  const consumers = node.consumers ?? [];
  const links = node.links ?? [];
  return (
    <>
      {inputs.length + consumers.length > 0 && (
        <section class="neighbours">
          <NameList
            title="Inputs"
            names={inputs.map(({ name, slot }, at) => ({
              name,
              note: [`:${slot}`, shapeText(node.input_shapes?.[String(at)])].join(" "),
            }))}
          />
          <NameList title="Feeds" names={consumers.map(({ name }) => ({ name, note: "" }))} />
        </section>
      )}
      <NameList
        title="Linked"
        names={links.map(({ name, kind, to, count }) => ({
          name,
          note: `${to ? "→" : "←"} ${kind.replaceAll("_", " ")}${count > 1 ? ` ${count}×` : ""}`,
        }))}
      />
      <ShapeList
        title="Outputs"
        rows={outputs.map(({ slot, shape, bytes }) => [`${slot}`, shape, bytes === null ? "" : format("bytes", bytes)])}
      />
    </>
  );
}

interface NameListProps {
  readonly title: string;
  readonly names: readonly { readonly name: string; readonly note: string }[];
}

/** Names of other nodes: a click searches for one. */
function NameList({ title, names }: NameListProps) {
  const session = useSession();
  if (names.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul class="plain">
        {names.slice(0, MOST_SHOWN).map(({ name, note }, at) => (
          <li key={at}>
            <button
              type="button"
              class="link"
              title={name}
              onClick={() => session.update({ search: name, match: 0, direction: "down" })}
            >
              {name}
            </button>{" "}
            <span class="muted">{note}</span>
          </li>
        ))}
        {names.length > MOST_SHOWN && <li class="muted">and {names.length - MOST_SHOWN} more</li>}
      </ul>
    </section>
  );
}

function Costliest({ node }: { node: NodeDocument }) {
  const nodes = node.graph_nodes ?? [];
  const names = nodes.map(({ name, exec_micros }) => ({ name, note: format("micros", exec_micros) }));
  return <NameList title="Costliest nodes" names={names.slice(0, MOST_SHOWN)} />;
}

function ShapeList({ title, rows }: { title: string; rows: readonly [string, Shape | undefined, string?][] }) {
  if (rows.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul class="plain">
        {rows.slice(0, MOST_SHOWN).map(([name, shape, bytes]) => (
          <li key={name}>
            {name} <span class="muted">{[shapeText(shape), bytes].filter(Boolean).join(" · ")}</span>
          </li>
        ))}
        {rows.length > MOST_SHOWN && <li class="muted">and {rows.length - MOST_SHOWN} more</li>}
      </ul>
    </section>
  );
}

function shapeText(shape: Shape | undefined): string {
  if (shape === undefined) return "";
  return typeof shape === "string" ? shape : `[${shape.join(" × ")}]`;
}

function Code({ node }: { node: NodeDocument }) {
  const frames = node.code ?? [];
  if (frames.length === 0) return null;
  const text = frames.map(({ file, line, function: name }) => `${file}:${line}${name ? ` ${name}` : ""}`);
  return (
    <section>
      <h3>Code, innermost first</h3>
      <ul class="plain where">
        {text.toReversed().map((frame, at) => (
          <li key={at}>
            <button type="button" class="link" title="Copy this location" onClick={() => copyText(frame)}>
              {frame}
            </button>
          </li>
        ))}
      </ul>
      <CopyButton text={text.join("\n")} label="Copy stack" />
    </section>
  );
}
