/** A sentence of the server: names in it stand between backticks, and look like names here. */
export function Words({ text }: { text: string | null | undefined }) {
  return (text ?? "").split(/`([^`\n]*)`/).map((part, place) => (place % 2 === 1 ? <code key={place}>{part}</code> : part));
}
