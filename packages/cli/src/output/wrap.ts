import { displayWidth } from './text-width.ts';

/** What is never broken: words, and commands in quotes, which are copied as a whole. */
const UNBROKEN = /'podwright [^']*'\S*|\S+/g;
/** What stands beside this much of a line is continued below itself. */
const WIDEST_HANG = 2 / 3;

/**
 * Breaks the lines of a text for people between words, where they are longer than `width` cells (undefined or 0: never). What
 * follows a gap of two spaces, as in a table of two columns, is continued below its beginning, all else below the line's.
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

/** Where the last column begins: an index in the line. */
function hangOf(line: string, width: number): number {
  const indent = line.length - line.trimStart().length;
  const gaps = [...line.matchAll(/(?<=\S) {2,}(?=\S)/g)].map(({ index, 0: gap }) => index + gap.length);
  return gaps.findLast((end) => displayWidth(line.slice(0, end)) <= width * WIDEST_HANG) ?? indent;
}
