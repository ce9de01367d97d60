/** Message of the server. Names between backticks are rendered as code. */
export function MessageText({ text }: { text: string | null | undefined }) {
  return (text ?? "").split(/`([^`\n]*)`/).map((segment, index) => (index % 2 === 1 ? <code key={index}>{segment}</code> : segment));
}
