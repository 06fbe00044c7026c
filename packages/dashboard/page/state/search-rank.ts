/** What the search box finds. Pure. */

export type SearchEntry = {
  /** The name that is searched first. */
  name: string;
  /** What it is: a kind, or `page`. */
  kind: string;
  namespace: string;
  href: string;
};

export type SearchHit = { entry: SearchEntry; score: number };

/** Results that are shown. */
const MAX_HITS = 50;

/**
 * Returns the best entries for a text, whose words must all be found in the name, kind or namespace: at the beginning of a name best, then at
 * the beginning of one of its parts, then anywhere, and then as letters in this order (`wfr` finds `web-frontend`).
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
  hits.sort((a, b) => b.score - a.score || a.entry.name.length - b.entry.name.length || compare(a.entry, b.entry));
  return hits.slice(0, MAX_HITS);
}

const compare = (a: SearchEntry, b: SearchEntry) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

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

/** Whether the text begins with the first letter, and has the others after it in their order. */
function hasLetters(word: string, text: string): boolean {
  if (text[0] !== word[0]) return false;
  let at = -1;
  for (const letter of word) {
    at = text.indexOf(letter, at + 1);
    if (at < 0) return false;
  }
  return true;
}
