import { statusOfLetter, type Status } from "./status";

/** Letters of statuses in descending severity. */
const SEVERITY = "fibtrpsk";

/**
 * Combined status of several task instances: the most severe one. Pending beside succeeded instances means
 * running.
 */
export function worstStatus(letters: string): Status | undefined {
  for (const letter of SEVERITY) {
    if (letters.includes(letter)) {
      if (letter === "p" && letters.includes("s")) return "running";
      return statusOfLetter(letter);
    }
  }
  return undefined;
}
