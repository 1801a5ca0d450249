/** The sheet of keys, made from the table of commands. */

import { grouped } from "../lib/commands";
import { useSession } from "./session";

/** Keys of widgets that hold the focus; they are no commands, but belong on the sheet. */
const WIDGET_KEYS: [string, [string, string][]][] = [
  [
    "In a table",
    [
      ["↑ ↓", "Move"],
      ["← →", "Close or open a row"],
      ["Home End", "First or last row"],
      ["Enter", "Details"],
      ["Alt+← Alt+→", "Close or open all below a row"],
      ["Shift+letter", "Next row that begins with it"],
      ["c", "Copy the row, tab-separated"],
      ["m", "Copy the row as Markdown"],
      ["↑ at the top", "To the head: Enter sorts, Shift+← → resizes"],
    ],
  ],
  ["In a switch", [["← →", "Another choice"]]],
  [
    "In an icicle",
    [
      ["← ↑ → ↓", "Move"],
      ["Enter +", "Zoom in, as a click"],
      ["-", "Zoom out by one level, as Ctrl + wheel"],
      ["0 Esc", "The whole tree"],
    ],
  ],
  [
    "In a timeline",
    [
      ["W S", "Zoom in or out, as Ctrl + wheel and drag"],
      ["A D", "Move the view, as Shift + wheel"],
      ["← ↑ → ↓", "The block before, above, after, below"],
      ["Enter, f", "Open the block, fill the view with it"],
      ["p", "Pin its lane, as a click on the label"],
      ["drag the axis", "Measure; Esc forgets it"],
      ["0", "The whole"],
    ],
  ],
  [
    "In a chart",
    [
      ["drag", "Zoom"],
      ["double-click", "Zoom out"],
    ],
  ],
];

export function HelpSheet() {
  const session = useSession();
  if (!session.helpOpen.value) return null;
  const close = () => {
    session.helpOpen.value = false;
  };
  const commands = grouped(session.commands.value).map(
    ([group, list]) =>
      [group, list.map(({ keys, title }) => [keys.join(" or "), title])] as [string, [string, string][]],
  );
  return (
    // The close button is all that takes the focus here, so that Tab leads nowhere else.
    <div class="sheet-back" onKeyDown={(event) => event.key === "Tab" && event.preventDefault()}>
      <section class="sheet" role="dialog" aria-modal="true" aria-label="Keyboard commands">
        <button
          type="button"
          class="icon-button close"
          aria-label="Close"
          onClick={close}
          ref={(button) => button?.focus()}
        >
          ×
        </button>
        {[...commands, ...WIDGET_KEYS].map(([group, rows]) => (
          <div key={group} class="sheet-group">
            <h2>{group}</h2>
            <dl>
              {rows.map(([keys, title]) => (
                <div key={keys + title}>
                  <dt>
                    <kbd>{keys.replace("Mod", "Ctrl")}</kbd>
                  </dt>
                  <dd>{title}</dd>
                </div>
              ))}
            </dl>
          </div>
        ))}
      </section>
    </div>
  );
}
