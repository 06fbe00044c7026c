import { escapeLine } from './terminal-text.ts';
import { displayWidth, fitCell } from './text-width.ts';

/** A column by its title; `importance` says which stay on a narrow terminal, if not what the title usually has. */
export type Column = string | { title: string; importance?: number };

/** The columns that go first where there is no room, and those that go last; any other has 5. */
const IMPORTANCE: Record<string, number> = {
  ...{ NAME: 10, POD: 10, IMAGE: 10, MESSAGE: 10, TYPE: 2, ID: 8, PART: 10, VERSION: 9, KIND: 9 },
  ...{ STATUS: 9, STATE: 9, NOTE: 9, REASON: 8, READY: 7, AGE: 6, TOOK: 6, 'LAST SEEN': 6, OBJECT: 7 },
  ...{ RESTARTS: 4, NAMESPACE: 3, IP: 2, REQUIRES: 1, ROLES: 1, UID: 1, DIGEST: 4, SIZE: 6, CREATED: 3 },
};
const USUAL_IMPORTANCE = 5;

/** The importance of the column NAMESPACE, if it is not the usual one: with several namespaces only NAME has more. */
export function namespaceImportance(namespaces: ReadonlySet<string>): number | undefined {
  return namespaces.size > 1 ? 9.5 : undefined;
}

/** Others are left out rather than a column cut below this; what is to be copied is cut last of all. */
const USUAL_LEAST_CELLS = 16;
const LEAST_CELLS: Record<string, number> = { MESSAGE: 24, DIRECTORY: Infinity, UID: Infinity };

/** `least` is how many cells of the `width` it keeps. */
type Laid = { title: string; index: number; importance: number; width: number; least: number };

/**
 * Columns aligned with three spaces between them, as kubectl prints. Where `width` is given (0 is none) and too small, spaces, then
 * the least important columns and then the longest cells give way. What a terminal would act on is escaped in every cell.
 */
export function renderTable(header: Column[], rows: string[][], width?: number): string {
  const cells = rows.map((row) => row.map(escapeLine));
  const columns = header.map((column, index) => layOut(column, index, cells));
  const { shown, gap } = width ? choose(columns, width) : { shown: columns, gap: 3 };
  const line = (cellOf: (column: Laid) => string) =>
    shown
      .map((column) => fitCell(cellOf(column), column.width))
      .map((cell, at) => cell + ' '.repeat(shown[at]!.width - displayWidth(cell)))
      .join(' '.repeat(gap))
      .trimEnd();
  return [line(({ title }) => title), ...cells.map((row) => line(({ index }) => row[index] ?? ''))].join('\n');
}

/** The columns that `renderTable` leaves out at this width. */
export function leftOut(header: Column[], rows: string[][], width: number | undefined): string[] {
  if (!width) return [];
  const cells = rows.map((row) => row.map(escapeLine));
  const columns = header.map((column, index) => layOut(column, index, cells));
  const shown = new Set(choose(columns, width).shown.map(({ title }) => title));
  return columns.flatMap(({ title }) => (shown.has(title) ? [] : [title]));
}

function layOut(column: Column, index: number, cells: string[][]): Laid {
  const { title, importance = IMPORTANCE[title] ?? USUAL_IMPORTANCE } =
    typeof column === 'string' ? { title: column } : column;
  const widths = cells.map((row) => displayWidth(row[index] ?? ''));
  const width = widths.reduce((a, b) => Math.max(a, b), displayWidth(title));
  return { title, index, importance, width, least: Math.min(width, LEAST_CELLS[title] ?? USUAL_LEAST_CELLS) };
}

/** Which columns are shown, how wide, and how far apart. The two most important stay in any case. */
function choose(columns: Laid[], width: number): { shown: Laid[]; gap: number } {
  const taken = (laid: Laid[], gap: number, cells: (column: Laid) => number) =>
    laid.reduce((sum, column) => sum + cells(column), gap * (laid.length - 1));
  if (taken(columns, 3, (column) => column.width) <= width) return { shown: columns, gap: 3 };
  let shown = columns;
  while (shown.length > 2 && taken(shown, 2, ({ least }) => least) > width) {
    const least = shown.reduce((a, b) => (b.importance <= a.importance ? b : a));
    shown = shown.filter((column) => column !== least);
  }
  const hasRoom = taken(shown, 2, ({ least }) => least) <= width;
  const cut = (most: number) => (column: Laid) => Math.min(column.width, Math.max(most, hasRoom ? column.least : 1));
  let most = Math.max(...shown.map((column) => column.width));
  while (most > 1 && taken(shown, 2, cut(most)) > width) most--;
  return { shown: shown.map((column) => ({ ...column, width: cut(most)(column) })), gap: 2 };
}
