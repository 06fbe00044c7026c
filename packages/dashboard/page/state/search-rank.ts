/** Ranks the entries of the search box for a query. Pure functions. */
import { compareText } from './text.ts';

export type SearchEntry = {
  /** The entry's name. Matches in it count more than matches in the kind and namespace. */
  name: string;
  /** An object's kind, `list` for the list of a resource, or `page`. */
  kind: string;
  namespace: string;
  href: string;
};

export type SearchHit = { entry: SearchEntry; score: number };

const MAX_HITS = 50;

/**
 * Returns the entries that best match a query, best first. All words of the query must occur in the name, kind or namespace. Matches at the
 * start of a name score highest, followed by matches at the start of a part, matches elsewhere, and letters in the same order (`wfr` finds
 * `web-frontend`).
 */
export function search(text: string, entries: readonly SearchEntry[]): SearchHit[] {
  const words = text
    .toLowerCase()
    .split(/[\s/]+/)
    .filter((word) => word !== '');
  if (words.length === 0) return [];
  const hits: SearchHit[] = [];
  for (const entry of entries) {
    const score = scoreOf(words, entry);
    if (score > 0) hits.push({ entry, score });
  }
  hits.sort(
    (a, b) => b.score - a.score || a.entry.name.length - b.entry.name.length || compareText(a.entry.name, b.entry.name),
  );
  return hits.slice(0, MAX_HITS);
}

function scoreOf(words: readonly string[], { name, kind, namespace }: SearchEntry): number {
  let total = 0;
  for (const word of words) {
    const best = Math.max(
      wordScore(word, name.toLowerCase()),
      wordScore(word, kind.toLowerCase()) * 0.8,
      wordScore(word, namespace.toLowerCase()) * 0.5,
    );
    if (best === 0) return 0;
    total += best;
  }
  return total / words.length;
}

function wordScore(word: string, text: string): number {
  if (text === word) return 100;
  const at = text.indexOf(word);
  if (at === 0) return 80;
  if (at > 0) return /[-._:]/.test(text[at - 1]!) ? 60 : 40;
  return word.length >= 2 && hasLetters(word, text) ? 10 : 0;
}

/** Whether the text starts with the first letter of the word and contains its other letters in the same order. */
function hasLetters(word: string, text: string): boolean {
  if (text[0] !== word[0]) return false;
  let at = -1;
  for (const letter of word) {
    at = text.indexOf(letter, at + 1);
    if (at < 0) return false;
  }
  return true;
}
