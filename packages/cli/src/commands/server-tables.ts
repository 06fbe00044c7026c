/** `get` for kinds available only with a Kubernetes API: prints the tables built by the server, as kubectl does. */
import { errorMessage, isNotFound, PodwrightError } from '@podwright/base';
import { pathOf } from '@podwright/kube-api';
import { type ServerTable, TABLE, type TableRow, tableOf } from '@podwright/kube-verbs';
import type { ApiObject } from '../client/object-client.ts';
import { type ObjectKind, type ObjectSelection, qualifiedKind, withGroup } from '../client/object-names.ts';
import { readValues, UnixHttp } from '../client/unix-http.ts';
import { print, printError } from '../output/terminal-text.ts';
import { type GetOptions, nothingFound, queryOf } from './get-options.ts';
import { TablePrinter } from './object-printer.ts';
import type { Column } from './object-tables.ts';
import { sortedBy } from './sorted-objects.ts';

/** A row of a server's table, in the form required by the table printer. */
type Row = ApiObject & Pick<TableRow, 'cells'>;

type Read = { http: UnixHttp; options: GetOptions };

/** Prints tables of the selected kinds. With `watch`, also prints a row for each change; this requires a single kind. */
export async function getTables(socketPath: string, selection: ObjectSelection, options: GetOptions): Promise<void> {
  const read = { http: new UnixHttp(socketPath), options };
  const { kinds, named } = selection;
  if (options.watch) return watchTable(read, selection);
  const tables = await Promise.all(
    kinds.map(async (kind) => {
      const names = named.filter((one) => one.kind === kind).map(({ name }) => name);
      const answers =
        names.length === 0 ? [await list(read, kind)] : await Promise.all(names.map((name) => one(read, kind, name)));
      return {
        kind,
        found: answers.filter((answer) => typeof answer !== 'string'),
        missing: answers.filter((answer) => typeof answer === 'string'),
      };
    }),
  );
  const shown = tables.filter(({ found }) => found.some(({ rows }) => rows.length > 0));
  for (const [index, { kind, found }] of shown.entries()) {
    if (index > 0) print('');
    const rows = found.flatMap((table) => table.rows);
    printerOf(found[0]!, kind, { options, withKind: kinds.length > 1 }).print(inOrder(rows, options));
  }
  if (shown.length === 0 && named.length === 0) printError(nothingFound(kinds, options));
  const missing = tables.flatMap((table) => table.missing);
  if (missing.length > 0 && !options.ignoreNotFound) throw new PodwrightError('not_found', missing.join('\n'));
}

async function list({ http, options }: Read, kind: ObjectKind): Promise<ServerTable> {
  const { namespace, ...selectors } = queryOf(options);
  const path = pathOf(withGroup(kind), { namespace });
  // with --sort-by, request whole objects, because rows without them lack the fields to sort by
  const query = { ...selectors, includeObject: options.sortBy === undefined ? undefined : 'Object' };
  return tableOf(await http.json({ method: 'GET', path, query, accept: TABLE }, (value) => value));
}

/** Returns the table of one object, or the error message if the object does not exist. */
async function one({ http, options }: Read, kind: ObjectKind, name: string): Promise<ServerTable | string> {
  const path = pathOf(withGroup(kind), { namespace: options.namespace, name });
  try {
    return tableOf(await http.json({ method: 'GET', path, accept: TABLE }, (value) => value));
  } catch (error) {
    if (isNotFound(error)) return errorMessage(error);
    throw error;
  }
}

function inOrder(rows: readonly TableRow[], { sortBy }: GetOptions): Row[] {
  const plain = rows.map(rowOf);
  if (sortBy === undefined) return plain;
  const objects = rows.map(({ object }, index) => ({ ...(object as ApiObject), index }));
  return sortedBy(objects, sortBy).map((object) => plain[(object as unknown as { index: number }).index]!);
}

const rowOf = (row: TableRow): Row => row as unknown as Row;

function printerOf(
  table: ServerTable,
  kind: ObjectKind,
  { options, withKind }: { options: GetOptions; withKind: boolean },
): TablePrinter {
  const columns = table.columns.map(({ title, wide }, index): Column => {
    const prefix = withKind && index === 0 ? `${qualifiedKind(kind)}/` : '';
    return {
      title,
      ...(wide && { wide: true as const, importance: 1 }),
      cell: (row) => prefix + ((row as Row).cells[index] ?? ''),
    };
  });
  const namespace: Column = { title: 'NAMESPACE', cell: ({ metadata }) => metadata.namespace };
  return new TablePrinter(options.allNamespaces && kind.namespaced ? [namespace, ...columns] : columns, options);
}

async function watchTable({ http, options }: Read, { kinds, named }: ObjectSelection): Promise<void> {
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1 || named.length > 1)
    throw new PodwrightError('invalid_argument', 'get -w: watch only one kind, or one object of it');
  const [only] = named;
  const { namespace, fieldSelector, ...selectors } = queryOf(options);
  const fields = [fieldSelector, only && `metadata.name=${only.name}`].filter(Boolean).join(',');
  const query = { ...selectors, fieldSelector: fields === '' ? undefined : fields };
  const call = { method: 'GET', path: pathOf(withGroup(kind), { namespace }), accept: TABLE } as const;
  const first = tableOf(await http.json({ ...call, query }, (value) => value));
  if (only !== undefined && first.rows.length === 0) await one({ http, options }, kind, only.name).then(refuseAbsent);
  const printer = printerOf(first, kind, { options, withKind: false });
  printer.print(inOrder(first.rows, options));
  const { signal } = new AbortController();
  const response = await http.stream({
    ...call,
    query: { ...query, watch: 'true', resourceVersion: first.resourceVersion },
  });
  for await (const { type, object } of readValues(
    response,
    (value) => value as { type: string; object: unknown },
    signal,
  ))
    if (type !== 'BOOKMARK') printer.print(tableOf(object).rows.map(rowOf));
  throw new PodwrightError('unavailable', 'the node has stopped; the watch has ended');
}

function refuseAbsent(answer: ServerTable | string): void {
  if (typeof answer === 'string') throw new PodwrightError('not_found', answer);
}
