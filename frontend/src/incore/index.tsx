export function InCoreLens() {
  return null;
}
