import { errorMessage, isNotFound, PodwrightError } from '@podwright/base';
import { knownKinds } from '../client/known-kinds.ts';
import { type ApiObject, ObjectClient } from '../client/object-client.ts';
import {
  isApiKind,
  type ObjectKind,
  type ObjectSelection,
  parseObjects,
  refuseNamesInAll,
} from '../client/object-names.ts';
import { isTable, printValue } from '../output/object-format.ts';
import { print, printError } from '../output/terminal-text.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { type GetOptions, nothingFound, queryOf } from './get-options.ts';
import { printName, TablePrinter } from './object-printer.ts';
import { type Column, columnsOf } from './object-tables.ts';

/** The objects to print, and the format. `nothing` is the message printed instead of an empty table. */
export type Shown = {
  selection: ObjectSelection;
  columns: (kind: ObjectKind) => Column[];
  options: GetOptions;
  nothing?: string;
};

/** `podwright get TYPE[,TYPE…] [NAME…]`, `get TYPE/NAME…`. */
export async function get(context: CommandContext, words: string[], options: GetOptions): Promise<void> {
  const known = await knownKinds(context.config.apiSocket, words);
  const selection = parseObjects(words, { known });
  if (selection.kinds.some(({ kind }) => kind === 'Image')) return getImages(context, selection, options);
  const { namespace, allNamespaces = false } = options;
  refuseNamesInAll('get', selection, allNamespaces);
  const isOfServer =
    selection.kinds.some(isApiKind) && (options.output.type === 'table' || options.output.type === 'wide');
  if (isOfServer) return (await import('./server-tables.ts')).getTables(context.config.apiSocket, selection, options);
  const withType = selection.kinds.length > 1;
  const columns = (kind: ObjectKind) => columnsOf(kind, { allNamespaces, withType });
  const client = new ObjectClient(context.config.apiSocket);
  await show(client, { selection, columns, options: { ...options, namespace, allNamespaces } });
}

/** Prints the selected objects and, with `watch`, all later changes. */
export async function show(client: ObjectClient, shown: Shown): Promise<void> {
  const { selection, options } = shown;
  if (options.watch) return watch(client, shown);
  const { objects, missing } = await fetch(client, selection, options);
  await printObjects(await inOrder(objects, options), shown);
  if (missing.length > 0 && !options.ignoreNotFound) throw new PodwrightError('not_found', missing.join('\n'));
}

async function fetch(
  client: ObjectClient,
  { kinds, named }: ObjectSelection,
  options: GetOptions,
): Promise<{ objects: ApiObject[]; missing: string[] }> {
  if (named.length === 0) {
    const lists = await Promise.all(kinds.map((kind) => client.list(kind, queryOf(options))));
    return { objects: lists.flat(), missing: [] };
  }
  const missing: string[] = [];
  const found = named.map(async ({ kind, name }) => {
    try {
      return [await client.get(kind, name, options.namespace)];
    } catch (error) {
      if (!isNotFound(error)) throw error;
      missing.push(errorMessage(error));
      return [];
    }
  });
  return { objects: (await Promise.all(found)).flat(), missing };
}

async function inOrder(objects: ApiObject[], { sortBy }: GetOptions): Promise<ApiObject[]> {
  return sortBy === undefined ? objects : (await import('./sorted-objects.ts')).sortedBy(objects, sortBy);
}

async function printObjects(objects: ApiObject[], { selection, columns, options, nothing }: Shown): Promise<void> {
  const { output } = options;
  if (output.type === 'name') return objects.forEach(printName);
  if (!isTable(output)) {
    const single = selection.named.length === 1;
    if (single && objects.length === 0) return;
    const list = { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' }, items: objects };
    return printValue(output, single ? objects[0] : list);
  }
  if (output.type === 'custom-columns') new TablePrinter([], options).print(objects);
  const shown =
    output.type === 'custom-columns'
      ? []
      : selection.kinds.filter(({ kind }) => objects.some((object) => object.kind === kind));
  for (const [index, kind] of shown.entries()) {
    if (index > 0) print('');
    new TablePrinter(columns(kind), options).print(objects.filter((object) => object.kind === kind.kind));
  }
  if (objects.length > 0 || selection.named.length > 0) return;
  if (nothing === undefined) printError(nothingFound(selection.kinds, options));
  else print(nothing);
}

/** Prints the existing objects, then changes: one row per change in a table, or the whole object in other formats. */
async function watch(client: ObjectClient, { selection, columns, options }: Shown): Promise<void> {
  const [kind] = selection.kinds;
  if (selection.kinds.length !== 1 || selection.named.length > 1)
    throw new PodwrightError('invalid_argument', 'get -w: watch only one kind, or one object of it');
  const query = queryOf(options);
  const [named] = selection.named;
  if (named !== undefined) {
    await client.get(named.kind, named.name, options.namespace); // fail at once if the object does not exist
    query.fieldSelector = [query.fieldSelector, `metadata.name=${named.name}`].filter(Boolean).join(',');
  }
  const table = new TablePrinter(columns(kind!), options);
  const present: ApiObject[] = [];
  let listed = false;
  const { signal } = new AbortController();
  for await (const change of client.watch(kind!, query, signal)) {
    if (change.type === 'listed') {
      listed = true;
      await printChanged(await inOrder(present, options), table, options);
    } else if (listed) await printChanged([change.object], table, options);
    else present.push(change.object);
  }
}

async function printChanged(objects: ApiObject[], table: TablePrinter, { output }: GetOptions): Promise<void> {
  if (isTable(output)) return table.print(objects);
  if (output.type === 'name') return objects.forEach(printName);
  for (const object of objects) {
    if (output.type === 'yaml') console.log('---');
    await printValue(output, object);
  }
}

/**
 * Lists images, which come from the container runtime rather than the node's API. Only this case needs the CRI client, which is slow to
 * load.
 */
async function getImages(
  context: CommandContext,
  { kinds, named }: ObjectSelection,
  { output }: GetOptions,
): Promise<void> {
  const { type } = output;
  if (kinds.length > 1 || named.length > 0 || type === 'name' || type === 'jsonpath' || type === 'custom-columns') {
    const message = "get images: all are listed, as a table or with -o wide, json or yaml; see also 'podwright images'";
    throw new PodwrightError('invalid_argument', message);
  }
  const { images } = await import('./images.ts');
  return images(context, { output: type === 'table' ? 'text' : type });
}
