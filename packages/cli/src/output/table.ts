import { escapeLine } from './terminal-text.ts';
import { displayWidth, fitCell } from './text-width.ts';

/**
 * A column, given by its title. `importance` overrides the default for that title; on a narrow terminal, less important columns are
 * omitted.
 */
export type Column = string | { title: string; importance?: number };

/** Default importance of columns; the least important one is omitted first. Unlisted columns have 5. */
const IMPORTANCE: Record<string, number> = {
  ...{ NAME: 10, POD: 10, IMAGE: 10, MESSAGE: 10, TYPE: 2, ID: 8, PART: 10, VERSION: 9, KIND: 9 },
  ...{ STATUS: 9, STATE: 9, NOTE: 9, REASON: 8, READY: 7, AGE: 6, TOOK: 6, 'LAST SEEN': 6, OBJECT: 7 },
  ...{ RESTARTS: 4, NAMESPACE: 3, IP: 2, REQUIRES: 1, ROLES: 1, UID: 1, DIGEST: 4, SIZE: 6, CREATED: 3 },
};
const USUAL_IMPORTANCE = 5;

/**
 * Returns the importance of the NAMESPACE column if it differs from the default: if there are several namespaces, only NAME is more
 * important.
 */
export function namespaceImportance(namespaces: ReadonlySet<string>): number | undefined {
  return namespaces.size > 1 ? 9.5 : undefined;
}

/**
 * Minimum width of a column, in cells: less important columns are omitted before a column is truncated below it. Columns whose values users
 * copy are not truncated as long as there is room for the two most important columns.
 */
const USUAL_LEAST_CELLS = 16;
const LEAST_CELLS: Record<string, number> = { MESSAGE: 24, DIRECTORY: Infinity, UID: Infinity };

/** A column and its `width` in cells, which can be reduced to `least`. */
type LaidOut = { title: string; index: number; importance: number; width: number; least: number };

/**
 * Renders aligned columns, three spaces apart as in kubectl. If `width` is too small (0 means unlimited), first the gaps are narrowed, then
 * the least important columns are omitted, and finally the longest cells are truncated. Control characters are escaped in every cell.
 */
export function renderTable(header: Column[], rows: string[][], width?: number): string {
  const cells = rows.map((row) => row.map(escapeLine));
  const columns = header.map((column, index) => layOut(column, index, cells));
  const { shown, gap } = width ? choose(columns, width) : { shown: columns, gap: 3 };
  const line = (cellOf: (column: LaidOut) => string) =>
    shown
      .map((column) => fitCell(cellOf(column), column.width))
      .map((cell, at) => cell + ' '.repeat(shown[at]!.width - displayWidth(cell)))
      .join(' '.repeat(gap))
      .trimEnd();
  return [line(({ title }) => title), ...cells.map((row) => line(({ index }) => row[index] ?? ''))].join('\n');
}

/** Returns the titles of the columns that `renderTable` omits at this width. */
export function leftOut(header: Column[], rows: string[][], width: number | undefined): string[] {
  if (!width) return [];
  const cells = rows.map((row) => row.map(escapeLine));
  const columns = header.map((column, index) => layOut(column, index, cells));
  const shown = new Set(choose(columns, width).shown.map(({ title }) => title));
  return columns.flatMap(({ title }) => (shown.has(title) ? [] : [title]));
}

function layOut(column: Column, index: number, cells: string[][]): LaidOut {
  const { title, importance = IMPORTANCE[title] ?? USUAL_IMPORTANCE } =
    typeof column === 'string' ? { title: column } : column;
  const widths = cells.map((row) => displayWidth(row[index] ?? ''));
  const width = widths.reduce((a, b) => Math.max(a, b), displayWidth(title));
  return { title, index, importance, width, least: Math.min(width, LEAST_CELLS[title] ?? USUAL_LEAST_CELLS) };
}

/** Returns the columns to show, with their widths and the gap between them. The two most important columns are always shown. */
function choose(columns: LaidOut[], width: number): { shown: LaidOut[]; gap: number } {
  const taken = (laid: LaidOut[], gap: number, cells: (column: LaidOut) => number) =>
    laid.reduce((sum, column) => sum + cells(column), gap * (laid.length - 1));
  if (taken(columns, 3, (column) => column.width) <= width) return { shown: columns, gap: 3 };
  let shown = columns;
  while (shown.length > 2 && taken(shown, 2, ({ least }) => least) > width) {
    const least = shown.reduce((a, b) => (b.importance <= a.importance ? b : a));
    shown = shown.filter((column) => column !== least);
  }
  const hasRoom = taken(shown, 2, ({ least }) => least) <= width;
  const cut = (most: number) => (column: LaidOut) => Math.min(column.width, Math.max(most, hasRoom ? column.least : 1));
  let most = Math.max(...shown.map((column) => column.width));
  while (most > 1 && taken(shown, 2, cut(most)) > width) most--;
  return { shown: shown.map((column) => ({ ...column, width: cut(most)(column) })), gap: 2 };
}
