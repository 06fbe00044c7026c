/** Lines of tab-separated cells, as in kubectl, aligned like Go's text/tabwriter does. */

/** Collects the lines of a description. Each level is indented by two spaces. */
export class Lines {
  readonly #lines: string[] = [];

  /** Adds a line of tab-separated cells. */
  add(level: number, text: string): void {
    this.#lines.push(...text.split('\n').map((line, index) => (index === 0 ? '  '.repeat(level) + line : line)));
  }

  /** Adds `Label:<tab>value`. */
  field(label: string, value: string | number | boolean): void {
    this.add(0, `${label}:\t${value}`);
  }

  /** Adds a field with one line per value, all in the same column, or `<none>` if there are no values. */
  list(level: number, label: string, values: readonly string[]): void {
    const [first = '<none>', ...rest] = values;
    this.add(level, `${label}:\t${first}`);
    for (const value of rest) this.add(0, `\t${value}`);
  }

  text(): string {
    return align(this.#lines).join('\n');
  }

  /** Returns the lines with their tabs, unaligned. */
  unaligned(): string {
    return this.#lines.join('\n');
  }
}

const PADDING = 2;

/**
 * Replaces tabs with spaces. A column is a run of adjacent lines that have a tab after the cell in that position; it is as wide as its
 * widest cell.
 */
export function align(lines: readonly string[]): string[] {
  const cells = lines.map((line) => line.split('\t'));
  const widths: number[][] = cells.map(() => []);
  widen({ from: 0, to: cells.length, column: 0 }, cells, widths);
  return cells.map((row, line) =>
    row
      .map((cell, column) =>
        column < row.length - 1 ? cell.padEnd(widths[line]![column]! + codePointExcess(cell)) : cell,
      )
      .join(''),
  );
}

/**
 * Number of UTF-16 code units in excess of the number of code points: JavaScript's padding counts code units, but Go's counts code points.
 */
const codePointExcess = (text: string): number => text.length - [...text].length;

type Block = { from: number; to: number; column: number };

function widen({ from, to, column }: Block, cells: readonly string[][], widths: number[][]): void {
  const has = (line: number) => line < to && column < cells[line]!.length - 1;
  for (let line = from; line < to; line++) {
    if (!has(line)) continue;
    const first = line;
    while (has(line + 1)) line++;
    const width = Math.max(...cells.slice(first, line + 1).map((row) => [...row[column]!].length)) + PADDING;
    for (let index = first; index <= line; index++) widths[index]![column] = width;
    widen({ from: first, to: line + 1, column: column + 1 }, cells, widths);
  }
}
