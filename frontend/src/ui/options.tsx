/** The options of a lens as chips: what is changed shows as a chip, and a menu made from the option table changes the rest. */

import { snapshot } from "../lib/api";
import type { OptionSpec } from "../lib/documents";
import { Menu } from "./menu";
import { useSession } from "./session";
import { CopyButton } from "./states";

interface OptionsProps {
  readonly lens: string;
  /** Options with a control of their own. */
  readonly except: readonly string[];
  /** What the flags are for: the command that gives the same answer. */
  readonly command: string;
}

export function OptionChips({ lens, except, command }: OptionsProps) {
  const session = useSession();
  const specs = (session.options.data.value?.[lens] ?? []).filter((spec) => !except.includes(spec.name));
  const given = session.state.value.options;
  const changed = specs.filter((spec) => given[spec.name] !== undefined);
  if (snapshot() !== undefined) return <NoOptions command={command} />;
  if (specs.length === 0) return null;
  return (
    <div class="chips">
      {changed.map((spec) => (
        <span key={spec.name} class="chip" title={spec.help}>
          <span class="chip-name">{spec.name}</span>
          <span>{given[spec.name]}</span>
          <button
            type="button"
            class="chip-remove"
            aria-label={`Remove ${spec.name}`}
            onClick={() => session.setOption(spec.name, null)}
          >
            ×
          </button>
        </span>
      ))}
      <Menu label="Options" title="All options of this lens">
        <div class="option-list">
          {specs.map((spec) => (
            <OptionField key={spec.name} spec={spec} given={given[spec.name]} />
          ))}
          <div class="option-foot">
            <code>{flags(command, given, specs)}</code>
            <CopyButton text={flags(command, given, specs)} label="Copy command" />
          </div>
        </div>
      </Menu>
    </div>
  );
}

function NoOptions({ command }: { command: string }) {
  const why = `A report holds the answers to one set of options. For others, ask the source: ${command}`;
  return (
    <button type="button" class="button" disabled title={why}>
      Options
    </button>
  );
}

/** The command that asks the same. */
export function flags(command: string, given: Readonly<Record<string, string>>, specs: readonly OptionSpec[]): string {
  const words = specs.flatMap(({ name }) => (given[name] === undefined ? [] : [`--${name}`, quote(given[name])]));
  return [command, ...words].join(" ");
}

function quote(text: string): string {
  return /^[\w./:=,+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function OptionField({ spec, given }: { spec: OptionSpec; given: string | undefined }) {
  const session = useSession();
  const id = `option-${spec.name}`;
  const initial = defaultText(spec);
  const set = (text: string) => session.setOption(spec.name, text === initial ? null : text);
  return (
    <div class="option" title={spec.help}>
      <label for={id}>{spec.name}</label>
      <OptionInput id={id} spec={spec} value={given ?? initial} onValue={set} />
      <span class="muted">{spec.help}</span>
    </div>
  );
}

interface OptionInputProps {
  readonly id: string;
  readonly spec: OptionSpec;
  readonly value: string;
  readonly onValue: (text: string) => void;
}

function OptionInput({ id, spec, value, onValue }: OptionInputProps) {
  if (spec.type === "bool") {
    const toggle = (event: Event) => onValue(String((event.currentTarget as HTMLInputElement).checked));
    return <input id={id} type="checkbox" checked={value === "true"} onChange={toggle} />;
  }
  if (spec.choices.length > 0) {
    const words = spec.optional ? ["", ...spec.choices] : spec.choices;
    return (
      <select id={id} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
        {words.map((word) => (
          <option key={word} value={word}>
            {word === "" ? "default" : word}
          </option>
        ))}
      </select>
    );
  }
  const numeric = spec.type === "int" || spec.type === "float";
  return (
    <input
      id={id}
      type="text"
      inputMode={numeric ? "decimal" : "text"}
      value={value}
      placeholder={spec.optional ? "default" : ""}
      spellcheck={false}
      onChange={(event) => onValue(event.currentTarget.value)}
    />
  );
}

/** An option's default as query text. */
export function defaultText({ default: value }: OptionSpec): string {
  if (value === null || value === undefined) return "";
  return Array.isArray(value) ? value.join(",") : String(value);
}
