import { escapeLine } from './terminal-text.ts';

/**
 * Columns aligned with three spaces between them, as kubectl prints; the last column is cut at `width` if given. What a terminal
 * would act on is escaped in every cell.
 */
export function renderTable(header: string[], rows: string[][], width?: number): string {
  const lines = [header, ...rows.map((row) => row.map(escapeLine))];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => displayWidth(line[column] ?? ''))));
  return lines
    .map((line) => {
      const cells = line.map((cell, column) =>
        column === line.length - 1 ? cell : cell + ' '.repeat(widths[column]! - displayWidth(cell)),
      );
      return fit(cells.join('   ').trimEnd(), width);
    })
    .join('\n');
}

/** Cuts a line at `width` columns with an ellipsis; a terminal that does not know its width says 0. */
export function fit(line: string, width: number | undefined): string {
  if (width === undefined || width === 0 || displayWidth(line) <= width) return line;
  return `${line.slice(0, Math.max(0, width - 1))}…`;
}

function displayWidth(text: string): number {
  return [...text].length;
}
