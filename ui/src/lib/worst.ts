import { statusOfLetter, type Status } from "./status";

/** What matters most of many states comes first. */
const ORDER = "fibtrpsk";

/** The state of many instances together; once something has begun, what has ended well does not hide what waits. */
export function worstOf(letters: string): Status | undefined {
  for (const letter of ORDER) {
    if (letters.includes(letter)) {
      if (letter === "p" && letters.includes("s")) return "running";
      return statusOfLetter(letter);
    }
  }
  return undefined;
}
