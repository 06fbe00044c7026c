/**
 * A table of objects. Only visible rows are rendered if the table is long. Keyboard shortcuts move between the links in its rows (see
 * keys.ts).
 */
import type { ComponentChildren } from 'preact';
import { VirtualRows } from './virtual-rows.tsx';

export type Column<T> = {
  title: string;
  /** The width as a CSS grid track, such as `2fr`. */
  track: string;
  cell(row: T): ComponentChildren;
  /** Whether to hide the column on narrow screens. */
  isMinor?: boolean;
  isNumber?: boolean;
};

type GridTableProps<T> = {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf(row: T): string;
  /** The text shown if there are no rows. */
  empty: string;
  /** The minimum width of the table. In narrower windows, the table scrolls horizontally. */
  minPx?: number;
};

const ROW_PX = 30;

export function GridTable<T>({ label, columns, rows, keyOf, empty, minPx = 0 }: GridTableProps<T>) {
  const style = {
    '--tracks': columns.map(({ track }) => `minmax(0, ${track})`).join(' '),
    '--tracks-narrow': columns
      .filter(({ isMinor }) => !isMinor)
      .map(({ track }) => `minmax(0, ${track})`)
      .join(' '),
    '--least': `${minPx}px`,
  };
  if (rows.length === 0) return <p class="faint">{empty}</p>;
  return (
    <div class="grid-scroll">
      <div class="grid" role="table" aria-label={label} aria-rowcount={rows.length + 1} style={style}>
        <div role="rowgroup">
          <div role="row" class="grid-head" aria-rowindex={1}>
            {columns.map((column) => (
              <span role="columnheader" key={column.title} class={classOf(column)}>
                {column.title}
              </span>
            ))}
          </div>
        </div>
        <VirtualRows count={rows.length} rowPx={ROW_PX}>
          {(first, last) =>
            rows.slice(first, last).map((row, index) => (
              <div role="row" data-row key={keyOf(row)} class="grid-row" aria-rowindex={first + index + 2}>
                {columns.map((column) => (
                  <span role="cell" key={column.title} class={classOf(column)}>
                    {column.cell(row)}
                  </span>
                ))}
              </div>
            ))
          }
        </VirtualRows>
      </div>
    </div>
  );
}

const classOf = <T,>({ isMinor, isNumber }: Column<T>): string =>
  [isMinor && 'minor', isNumber && 'number'].filter(Boolean).join(' ');
