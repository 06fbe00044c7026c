/** Lists and watches of a resource as the API's Table, with the columns that the server chooses. */

import { pause } from './follow-list.ts';
import { linesOf } from './lines.ts';
import type { KubeObject, Resource } from './objects.ts';
import { ApiError, call, isExpired, isForbidden, isNotFound } from './request.ts';
import { pathOf } from './resources.ts';
import { stream } from './stream.ts';

export type TableColumn = { name: string; type?: string; format?: string; description?: string; priority?: number };
export type TableRow = { cells: unknown[]; object?: KubeObject };
type Table = {
  kind?: string;
  metadata?: { resourceVersion?: string; continue?: string };
  columnDefinitions?: TableColumn[] | null;
  rows?: TableRow[] | null;
};

const AS_TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
/** A server that cannot make tables answers with plain objects. */
const ACCEPT = `${AS_TABLE},application/json;q=0.5`;
const PAGE_SIZE = 500;
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 15_000;

export type TableFollowing = {
  onTable(columns: TableColumn[], rows: TableRow[]): void;
  onRows(type: string, rows: TableRow[]): void;
  onFailure(error: unknown, isFinal: boolean): void;
};

/** Follows a table until the signal aborts. */
export async function followTable(
  { resource, namespace }: { resource: Resource; namespace: string },
  following: TableFollowing,
  signal: AbortSignal,
): Promise<void> {
  const path = pathOf(resource, { namespace });
  let version: string | undefined;
  let delayMs = FIRST_DELAY_MS;
  while (!signal.aborted) {
    try {
      version ??= await readTable(path, following, signal);
      const query = { watch: 1, allowWatchBookmarks: true, resourceVersion: version };
      for await (const lines of linesOf(stream(path, { accept: ACCEPT, query, signal }))) {
        delayMs = FIRST_DELAY_MS;
        for (const line of lines) version = onLine(line, following) ?? version;
      }
      await pause(FIRST_DELAY_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (isExpired(error)) {
        version = undefined;
        continue;
      }
      const isFinal = isForbidden(error) || isNotFound(error) || isWithoutWatch(error);
      following.onFailure(error, isFinal);
      if (isFinal) return;
      await pause(delayMs, signal);
      delayMs = Math.min(delayMs * 2, MAX_DELAY_MS);
    }
  }
}

/** A resource without the verb `watch`, such as metrics. */
const isWithoutWatch = (error: unknown) => error instanceof ApiError && error.code === 405;

async function readTable(path: string, following: TableFollowing, signal: AbortSignal): Promise<string> {
  const rows: TableRow[] = [];
  let columns: TableColumn[] = [];
  for (let next: string | undefined; ; ) {
    const answer: Table & { items?: KubeObject[] } = await call(path, {
      accept: ACCEPT,
      query: { limit: PAGE_SIZE, continue: next },
      signal,
    });
    const table = tableOf(answer);
    if (columns.length === 0) columns = table.columnDefinitions ?? [];
    rows.push(...(table.rows ?? []));
    next = table.metadata?.continue || undefined;
    if (next !== undefined) continue;
    following.onTable(columns, rows);
    return table.metadata?.resourceVersion ?? '';
  }
}

/** Makes a table with names and creation times of a list of plain objects. */
function tableOf(answer: Table & { items?: KubeObject[] }): Table {
  if (answer.kind === 'Table') return answer;
  const columnDefinitions = [
    { name: 'Name', type: 'string' },
    { name: 'Created At', type: 'date' },
  ];
  return { metadata: answer.metadata, columnDefinitions, rows: (answer.items ?? []).map(rowOf) };
}

const rowOf = (object: KubeObject): TableRow => ({
  cells: [object.metadata.name ?? '', object.metadata.creationTimestamp ?? ''],
  object,
});

/** Reports a line of a watch, and returns the version from which the watch can be resumed. */
function onLine(line: string, { onRows }: TableFollowing): string | undefined {
  const { type = '', object = {} } = JSON.parse(line) as { type?: string; object?: Table & Partial<KubeObject> };
  if (type === 'ERROR') throw new ApiError((object as { code?: number }).code ?? 500, object as object);
  const rows = object.kind === 'Table' ? (object.rows ?? []) : [rowOf(object as KubeObject)];
  if (type !== 'BOOKMARK') onRows(type, rows);
  return (rows.at(-1)?.object ?? object).metadata?.resourceVersion || undefined;
}

/** What identifies a row: the UID of its object or, in tables without objects, its first cell. */
export const rowKey = ({ object, cells }: TableRow): string =>
  object?.metadata.uid ?? `${object?.metadata.namespace ?? ''}/${object?.metadata.name ?? String(cells[0])}`;
