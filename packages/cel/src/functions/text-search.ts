/**
 * Searches a text for a part in time proportional to the sum of their lengths, as Go does. JavaScript's `indexOf` can take time
 * proportional to the product of the lengths, for example when it searches a long `aaa…` for `aaa…baaa…`.
 */

/** Maximum length of the parts for which JavaScript's `indexOf` is used: it compares at most this many characters at each index. */
const SHORT = 32;

/** Returns the first index at or after `from` at which the part occurs; -1 if there is none. */
export function indexOfText(text: string, part: string, from = 0): number {
  if (part.length <= SHORT) return text.indexOf(part, from);
  for (const index of occurrences(text, part, from)) return index;
  return -1;
}

/** Returns the last index at or before `from` at which the part occurs; -1 if there is none. */
export function lastIndexOfText(text: string, part: string, from: number): number {
  if (part.length <= SHORT) return text.lastIndexOf(part, from);
  let found = -1;
  for (const index of occurrences(text, part, 0)) {
    if (index > from) break;
    found = index;
  }
  return found;
}

/** Splits a text at a part that is not empty. */
export function splitAt(text: string, part: string): string[] {
  if (part.length <= SHORT) return text.split(part);
  const pieces: string[] = [];
  let start = 0;
  for (const index of occurrences(text, part, 0)) {
    if (index < start) continue; // overlaps the occurrence before it
    pieces.push(text.slice(start, index));
    start = index + part.length;
  }
  pieces.push(text.slice(start));
  return pieces;
}

/** Yields all indexes at which the part occurs, also of overlapping occurrences, by the Knuth-Morris-Pratt algorithm. */
function* occurrences(text: string, part: string, from: number): Generator<number> {
  const fallback = fallbacks(part);
  let matched = 0;
  for (let index = from; index < text.length; index++) {
    const code = text.charCodeAt(index);
    while (matched > 0 && (matched === part.length || part.charCodeAt(matched) !== code)) matched = fallback[matched]!;
    if (part.charCodeAt(matched) === code) matched++;
    if (matched === part.length) yield index - part.length + 1;
  }
}

/**
 * Returns the failure table of the algorithm: for each number n of matched characters, the length of the longest prefix of the part that is
 * shorter than n and ends at the same character.
 */
function fallbacks(part: string): Uint32Array {
  const lengths = new Uint32Array(part.length + 1);
  let matched = 0;
  for (let index = 1; index < part.length; index++) {
    const code = part.charCodeAt(index);
    while (matched > 0 && part.charCodeAt(matched) !== code) matched = lengths[matched]!;
    if (part.charCodeAt(matched) === code) matched++;
    lengths[index + 1] = matched;
  }
  return lengths;
}
