/** What is known of one thing, a line each; within a list of class `facts`. */

interface FactProps {
  readonly name: string;
  readonly value: string;
  /** What it means, or every digit of it. */
  readonly title?: string;
}

export function Fact({ name, value, title }: FactProps) {
  return (
    <>
      <dt title={title}>{name}</dt>
      <dd title={title}>{value}</dd>
    </>
  );
}
