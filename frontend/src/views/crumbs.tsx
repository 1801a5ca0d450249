interface CrumbsProps {
  /** The path of the row that the tree starts from. */
  readonly name: string;
  readonly onWhole: () => void;
  /** Null where its parent is the root of the tree. */
  readonly onUp: (() => void) | null;
}

/** Where a tree starts from, when not at its root. Below the icicle, so that zooming does not move it under the pointer. */
export function Crumbs({ name, onWhole, onUp }: CrumbsProps) {
  return (
    <nav class="crumbs" aria-label="Start of the tree">
      <button type="button" class="button" onClick={onWhole} title="Escape">
        Whole tree
      </button>
      {onUp !== null && (
        <button type="button" class="button" onClick={onUp} title="u">
          Up
        </button>
      )}
      <span class="muted">from</span>
      <strong class="name" title={name}>
        {name}
      </strong>
    </nav>
  );
}
