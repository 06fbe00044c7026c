/**
 * Substring search in time proportional to the sum of the lengths, as in Go. JavaScript's `indexOf` can take time proportional to their
 * product, for example when searching a long `aaa…` for `aaa…baaa…`.
 */

/**
 * Maximum length of substrings that are searched for with JavaScript's `indexOf`, which compares at most this many characters at each
 * index.
 */
const SHORT = 32;

/** Returns the first index at or after `from` where `part` occurs; -1 if there is none. */
export function indexOfText(text: string, part: string, from = 0): number {
  if (part.length <= SHORT) return text.indexOf(part, from);
  for (const index of occurrences(text, part, from)) return index;
  return -1;
}

/** Returns the last index at or before `from` where `part` occurs; -1 if there is none. */
export function lastIndexOfText(text: string, part: string, from: number): number {
  if (part.length <= SHORT) return text.lastIndexOf(part, from);
  let found = -1;
  for (const index of occurrences(text, part, 0)) {
    if (index > from) break;
    found = index;
  }
  return found;
}

/** Splits a string at a non-empty separator. */
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

/** Yields all indexes where `part` occurs, including overlapping occurrences, using the Knuth-Morris-Pratt algorithm. */
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
 * Returns the Knuth-Morris-Pratt failure table: for each number n of matched characters, the length of the longest proper prefix of these
 * characters that is also a suffix of them.
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
