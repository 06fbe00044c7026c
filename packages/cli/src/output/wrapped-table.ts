import { type Column, renderTable } from './table.ts';
import { escapeLine } from './terminal-text.ts';
import { displayWidth } from './text-width.ts';
import { wrapText } from './wrap.ts';

/** Minimum width of the last column, in cells. If the other columns leave less room, the last column is printed below them, indented. */
const LEAST_BESIDE = 32;
const INDENT = 4;
const GAP = 2;

/**
 * Returns the lines of a table whose last column is free text. If `width` is too small, the last column is wrapped rather than truncated; 0
 * means unlimited.
 */
export function wrappedRows(header: Column[], rows: string[][], width?: number): string[] {
  const whole = renderTable(header, rows).split('\n');
  if (!width || whole.every((line) => displayWidth(line) <= width)) return whole;
  const front = renderTable(
    header.slice(0, -1),
    rows.map((row) => row.slice(0, -1)),
    width,
  ).split('\n');
  const used = Math.max(...front.map(displayWidth)) + GAP;
  const isBeside = width - used >= LEAST_BESIDE;
  const indent = ' '.repeat(isBeside ? used : INDENT);
  const last = header.at(-1)!;
  const texts = [
    typeof last === 'string' ? last : last.title,
    ...rows.map((row) => escapeLine(row.at(-1) ?? '').replaceAll(/ {2,}/g, ' ')),
  ];
  return front.map((line, index) => {
    const [first = '', ...more] = wrapText(texts[index]!, width - indent.length).split('\n');
    const begin = isBeside ? line + ' '.repeat(used - displayWidth(line)) : `${line}\n${indent}`;
    return [begin + first, ...more.map((part) => indent + part)].join('\n');
  });
}
