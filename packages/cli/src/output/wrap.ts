import { displayWidth } from './text-width.ts';

/** Matches text that is never split: words, and quoted commands, because users copy them. */
const UNBROKEN = /'podwright [^']*'\S*|\S+/g;
/** Continuation lines are aligned with a column only if the column starts within this share of the width. */
const WIDEST_HANG = 2 / 3;

/**
 * Wraps lines longer than `width` cells between words; no-op if the width is undefined or 0. If a line has gaps of at least two spaces, as
 * in a table, the text after the last suitable gap is continued below its own start. Other text is continued at its line's indentation.
 */
export function wrapText(text: string, width: number | undefined): string {
  if (!width) return text;
  return text
    .split('\n')
    .map((line) => wrapLine(line, width))
    .join('\n');
}

function wrapLine(line: string, width: number): string {
  if (displayWidth(line) <= width) return line;
  const hang = hangOf(line, width);
  const [head, tail] = [line.slice(0, hang), line.slice(hang)];
  const indent = ' '.repeat(displayWidth(head));
  const lines: string[] = [head];
  let used = indent.length;
  for (const [word] of tail.matchAll(UNBROKEN)) {
    const cells = displayWidth(word);
    const fresh = used === indent.length;
    if (!fresh && used + 1 + cells > width) {
      lines.push(indent + word);
      used = indent.length + cells;
    } else {
      lines[lines.length - 1] += fresh ? word : ` ${word}`;
      used += (fresh ? 0 : 1) + cells;
    }
  }
  return lines.join('\n');
}

/** Returns the index to align continuation lines with: the start of the last column, or the indentation. */
function hangOf(line: string, width: number): number {
  const indent = line.length - line.trimStart().length;
  const gaps = [...line.matchAll(/(?<=\S) {2,}(?=\S)/g)].map(({ index, 0: gap }) => index + gap.length);
  return gaps.findLast((end) => displayWidth(line.slice(0, end)) <= width * WIDEST_HANG) ?? indent;
}
