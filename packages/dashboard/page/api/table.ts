/** Lists and watches a resource as a meta/v1 Table, whose columns are chosen by the server. */
import { NETWORK, PAGE_SIZE, type Transport } from './follow-list.ts';
import { linesOf } from './lines.ts';
import type { KubeObject, Resource } from './objects.ts';
import { ApiError, isExpired, isForbidden, isNotFound } from './request.ts';
import { pathOf } from './resources.ts';
import { FIRST_DELAY_MS, pause, RetryDelay } from './retry-delay.ts';

export type TableColumn = { name: string; type?: string; format?: string; description?: string; priority?: number };
export type TableRow = { cells: unknown[]; object?: KubeObject };
type Table = {
  kind?: string;
  metadata?: { resourceVersion?: string; continue?: string };
  columnDefinitions?: TableColumn[] | null;
  rows?: TableRow[] | null;
};

const AS_TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
/** Requests a table. Servers that do not support tables return plain objects. */
const ACCEPT = `${AS_TABLE},application/json;q=0.5`;

/** Receives the rows of a table and subsequent changes. */
export type TableHandler = {
  /** Called when a list has been read. Its rows replace all previous ones. */
  onTable(columns: TableColumn[], rows: TableRow[]): void;
  /** Called when rows have been added, changed or deleted. `type`: the type of the watch event. */
  onRows(type: string, rows: TableRow[]): void;
  /** Called when the server has accepted a watch, so the rows are current. */
  onLive(): void;
  /** Called when a list or watch has failed. It is retried unless `isFinal`. */
  onFailure(error: unknown, isFinal: boolean): void;
};

/** Lists and watches until the signal aborts or a final failure occurs. Never rejects. */
export async function followTable(
  { resource, namespace, transport = NETWORK }: { resource: Resource; namespace: string; transport?: Transport },
  handler: TableHandler,
  signal: AbortSignal,
): Promise<void> {
  const path = pathOf(resource, { namespace });
  let version: string | undefined;
  const retry = new RetryDelay();
  while (!signal.aborted) {
    try {
      version ??= await readTable(path, { handler, signal, transport });
      const query = { watch: 1, allowWatchBookmarks: true, resourceVersion: version };
      for await (const lines of linesOf(
        transport.stream(path, { accept: ACCEPT, query, signal, onOpen: () => handler.onLive() }),
      )) {
        for (const line of lines) version = handleLine(line, handler) ?? version;
        retry.reset();
      }
      await pause(FIRST_DELAY_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (isExpired(error)) {
        version = undefined;
      } else {
        const isFinal = isForbidden(error) || isNotFound(error) || isWithoutWatch(error);
        handler.onFailure(error, isFinal);
        if (isFinal) return;
      }
      await retry.wait(signal);
    }
  }
}

/**
 * Whether the server does not support the `watch` verb for the resource (405 Method Not Allowed), as for the resources of metrics.k8s.io.
 */
const isWithoutWatch = (error: unknown) => error instanceof ApiError && error.code === 405;

type ReadOptions = { handler: TableHandler; signal: AbortSignal; transport: Transport };

/** Reads all pages of a list and returns the list's resource version. */
async function readTable(path: string, { handler, signal, transport }: ReadOptions): Promise<string> {
  const rows: TableRow[] = [];
  let columns: TableColumn[] = [];
  for (let next: string | undefined; ; ) {
    const answer: Table & { items?: KubeObject[] } = await transport.call(path, {
      accept: ACCEPT,
      query: { limit: PAGE_SIZE, continue: next },
      signal,
    });
    const table = tableOf(answer);
    if (columns.length === 0) columns = table.columnDefinitions ?? [];
    rows.push(...(table.rows ?? []));
    next = table.metadata?.continue || undefined;
    if (next !== undefined) continue;
    handler.onTable(columns, rows);
    return table.metadata?.resourceVersion ?? '';
  }
}

/** Returns the table in a response. Builds a fallback table (name and creation time) from a list of plain objects. */
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

/** Handles a line of a watch. Returns the resource version from which the watch can be resumed. Throws an ApiError for ERROR events. */
function handleLine(line: string, { onRows }: TableHandler): string | undefined {
  const { type = '', object = {} } = JSON.parse(line) as { type?: string; object?: Table & Partial<KubeObject> };
  if (type === 'ERROR') throw new ApiError((object as { code?: number }).code ?? 500, object as object);
  const rows = object.kind === 'Table' ? (object.rows ?? []) : [rowOf(object as KubeObject)];
  if (type !== 'BOOKMARK') onRows(type, rows);
  return (rows.at(-1)?.object ?? object).metadata?.resourceVersion || undefined;
}

/** Returns the key of a row: its object's UID or, if there is none, its namespace and name. */
export const rowKey = ({ object, cells }: TableRow): string =>
  object?.metadata.uid ?? `${object?.metadata.namespace ?? ''}/${object?.metadata.name ?? String(cells[0])}`;
