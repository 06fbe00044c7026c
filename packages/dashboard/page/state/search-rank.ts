/** Ranks the entries of the search box for a text. Pure. */
import { compareText } from './text.ts';

export type SearchEntry = {
  /** The name. It counts more than the kind and the namespace. */
  name: string;
  /** The kind of an object, `list` for the list of a resource, or `page`. */
  kind: string;
  namespace: string;
  href: string;
};

export type SearchHit = { entry: SearchEntry; score: number };

/** Maximum number of results. */
const MAX_HITS = 50;

/**
 * Returns the best entries for a text, best first. All words of the text must be found in the name, kind or namespace. A match at the
 * beginning of a name scores highest, then one at the beginning of a part, then one anywhere, then letters in this order (`wfr` finds
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

/** Reports whether the text begins with the first letter of the word, and has its other letters later in this order. */
function hasLetters(word: string, text: string): boolean {
  if (text[0] !== word[0]) return false;
  let at = -1;
  for (const letter of word) {
    at = text.indexOf(letter, at + 1);
    if (at < 0) return false;
  }
  return true;
}
