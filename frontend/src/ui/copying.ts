/** Rows as text to paste elsewhere. */

export interface CopiedColumn<R> {
  readonly key: string;
  readonly title: string;
  /** The figure or word itself; null where it is not known. */
  value(row: R): number | string | null;
}

/** Tab-separated, for a spreadsheet: figures as the source has them. */
export function toTsv<R>(columns: readonly CopiedColumn<R>[], rows: readonly R[]): string {
  const lines = rows.map((row) => columns.map((column) => String(column.value(row) ?? "")).join("\t"));
  return [columns.map(({ key }) => key).join("\t"), ...lines].join("\n");
}

/** A Markdown table, for an issue. */
export function toMarkdown<R>(columns: readonly CopiedColumn<R>[], rows: readonly R[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [
    line(columns.map(({ key }) => key)),
    line(columns.map(() => "---")),
    ...rows.map((row) => line(columns.map((column) => String(column.value(row) ?? "")))),
  ].join("\n");
}
