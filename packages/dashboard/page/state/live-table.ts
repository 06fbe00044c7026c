/** The rows of a meta/v1 Table, kept up to date by a watch. */
import { signal } from '@preact/signals';
import type { Resource } from '../api/objects.ts';
import { messageOf } from '../api/request.ts';
import { followTable, rowKey, type TableColumn, type TableRow } from '../api/table.ts';
import { FrameBatch } from './frame-batch.ts';

export type LiveRows = {
  columns: readonly TableColumn[];
  rows: readonly TableRow[];
  isLoaded: boolean;
  /** Why the last list or watch failed. Undefined while the rows are up to date. */
  problem?: string;
};

type RowChange = { type: string; rows: TableRow[] };

export class LiveTable {
  readonly current = signal<LiveRows>({ columns: [], rows: [], isLoaded: false });
  readonly #rows = new Map<string, TableRow>();
  readonly #abort = new AbortController();
  readonly #batch = new FrameBatch<RowChange>((changes) => this.#apply(changes));

  constructor(place: { resource: Resource; namespace: string }) {
    void followTable(
      place,
      {
        onTable: (columns, rows) => this.#replace(columns, rows),
        onRows: (type, rows) => this.#batch.add({ type, rows }),
        onLive: () => {
          const { problem, ...rows } = this.current.peek();
          if (problem !== undefined) this.current.value = rows;
        },
        onFailure: (error) => {
          this.current.value = { ...this.current.peek(), problem: messageOf(error) };
        },
      },
      this.#abort.signal,
    );
  }

  close(): void {
    this.#abort.abort();
    this.#batch.drop();
  }

  #replace(columns: TableColumn[], rows: TableRow[]): void {
    this.#batch.drop();
    this.#rows.clear();
    for (const row of rows) this.#rows.set(rowKey(row), row);
    this.current.value = { columns, rows: [...this.#rows.values()], isLoaded: true };
  }

  #apply(changes: RowChange[]): void {
    for (const { type, rows } of changes)
      for (const row of rows)
        if (type === 'DELETED') this.#rows.delete(rowKey(row));
        else this.#rows.set(rowKey(row), row);
    const { columns } = this.current.peek();
    this.current.value = { columns, rows: [...this.#rows.values()], isLoaded: true };
  }
}
