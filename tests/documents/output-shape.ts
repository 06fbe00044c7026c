/** Patterns for output that varies between runs, and the placeholders that replace it. */
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
 * Returns the first line of a document's output that is missing from a command's output or out of order; `undefined` if there is none.
 * Times, addresses, IDs, sizes and column widths may differ. `…` matches any text or, on a line of its own, any lines. Additional lines are
 * allowed anywhere.
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
