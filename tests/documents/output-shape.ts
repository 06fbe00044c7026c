/** What differs each time, and what stands for it. */
const VARYING: [RegExp, string][] = [
  [/\b(?:\d+(?:\.\d+)? ?(?:ms|s|m|h|d))+\b/g, 'TIME'],
  [/\b\d+\.\d+\.\d+\.\d+\b/g, 'ADDRESS'],
  [/\b(?:sha256:)?[0-9a-f]{12,}\b/g, 'ID'],
  [/\b\d+(?:\.\d+)? (?:B|KiB|MiB|GiB)\b/g, 'SIZE'],
  [/ \(x\d+\)/g, ''],
  [/\s+/g, ' '],
];

const shapeOf = (line: string) => VARYING.reduce((text, [what, by]) => text.replace(what, by), line).trim();

/**
 * The first line of a document's output that a command did not print, in this order; nothing if all are there. Times,
 * addresses, ids, sizes and columns' widths may differ; `…` stands for any text, or alone in a line for any lines. Lines that the
 * document does not show may come anywhere.
 */
export function missingLine(shown: string, printed: string): string | undefined {
  const lines = printed.split(/\r?\n/).map(shapeOf);
  let at = 0;
  for (const line of shown.split('\n').filter((text) => text.trim() !== '' && text.trim() !== '…')) {
    const parts = shapeOf(line)
      .split('…')
      .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
    const found = lines.findIndex((text, index) => index >= at && new RegExp(`^${parts.join('.*')}$`).test(text));
    if (found < 0) return line;
    at = found + 1;
  }
  return undefined;
}
