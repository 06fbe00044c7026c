import { humanDuration, type KubeMetadata, type KubeObject } from '@podwright/kube-api';
import type { ApiObject } from '@podwright/kube-kinds';

export type Cell = string | number | boolean | null;

/** A column of a meta/v1 Table. `kubectl get` shows columns of priority 1 only with `-o wide`. */
export type ColumnDefinition = {
  name: string;
  type: string;
  format: string;
  description: string;
  priority: number;
};

export type Column<T = KubeObject> = {
  /** If absent, rows include the cell, but the table does not declare a column for it. */
  definition?: ColumnDefinition;
  cell: (object: T, nowMs: number) => Cell;
};

/** A condition of a table row (meta/v1 TableRowCondition). */
export type RowCondition = { type: string; status: string; reason: string; message: string };

/** How to print objects of a kind as table rows. The objects must be complete, valid, and in the version stored by upstream. */
export type KindTable<T = ApiObject> = {
  columns: readonly Column<T>[];
  conditions?: (object: T) => RowCondition[] | undefined;
  /** Compares two objects to sort the table's rows. By default, rows are in the order of the objects. */
  compare?: (a: T, b: T) => number;
};

/** Tables by `Kind.group`, or by `Kind` for the core group. */
export type KindTables = Record<string, KindTable>;

/** Returns the table for a kind whose objects are of type `T`. */
export function kindTable<T>(columns: readonly Column<T>[], more: Omit<KindTable<T>, 'columns'> = {}): KindTable {
  return { columns, ...more } as unknown as KindTable;
}

export const NONE = '<none>';
export const UNSET = '<unset>';

type Text<T> = [name: string, description: string, cell: Column<T>['cell']];

const columnOf = <T>(type: ColumnDefinition['type'], [name, description, cell]: Text<T>): Column<T> => ({
  definition: { name, type, format: '', description, priority: 0 },
  cell,
});

export const text = <T>(...column: Text<T>): Column<T> => columnOf('string', column);
export const integer = <T>(...column: Text<T>): Column<T> => columnOf('integer', column);
export const boolean = <T>(...column: Text<T>): Column<T> => columnOf('boolean', column);

/** Returns a copy of a column that is shown only with `-o wide`. */
export const wide = <T>({ definition, cell }: Column<T>): Column<T> => ({
  definition: { ...definition!, priority: 1 },
  cell,
});

/** Returns a copy of a column marked as the one with the object's name, which `kubectl get -o name` and `--show-kind` use. */
export const named = <T>({ definition, cell }: Column<T>): Column<T> => ({
  definition: { ...definition!, format: 'name' },
  cell,
});

export const PLAIN_NAME: Column = text('Name', 'Name of the object', ({ metadata }) => metadata.name ?? '');
export const NAME: Column = named(PLAIN_NAME);
export const AGE: Column = text('Age', 'Time since the object was created', ({ metadata }, nowMs) =>
  age(metadata.creationTimestamp, nowMs),
);
export const CREATED_AT: Column = columnOf('date', [
  'Created At',
  'Time at which the object was created',
  ({ metadata }) => metadata.creationTimestamp ?? '0001-01-01T00:00:00Z',
]);

/** Formats the time elapsed since an RFC 3339 timestamp. */
export const age = (since: string | null | undefined, nowMs: number): string =>
  since ? humanDuration(nowMs - Date.parse(since)) : '<unknown>';

export const isDeleted = ({ deletionTimestamp }: KubeMetadata): boolean => Boolean(deletionTimestamp);

export const sizeOf = (map: object | null | undefined): number => Object.keys(map ?? {}).length;

/** Joins the first `limit` items of a list and appends how many were omitted. */
export function shortList(items: readonly string[], { limit = 3, empty = UNSET, separator = ',' } = {}): string {
  const shown = items.slice(0, limit).join(separator);
  if (items.length > limit) return `${shown} + ${items.length - limit} more...`;
  return shown === '' ? empty : shown;
}
