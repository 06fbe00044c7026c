import { PodwrightError } from '@podwright/base';
import { quantityMilliValue, quantityValue } from '@podwright/kube-api';
import { type NodeObject, ObjectClient, type PodUsage, type Usage } from '../client/object-client.ts';
import { kindOfWord, POD } from '../client/object-names.ts';
import { TOP_PERIOD_MS } from '../limits.ts';
import { redraw } from '../output/redraw.ts';
import { type Column, namespaceImportance, renderTable } from '../output/table.ts';
import { terminalWidth } from '../output/terminal.ts';
import { print, printError } from '../output/terminal-text.ts';
import type { CommandContext } from '../settings/node-config.ts';

export type TopOptions = {
  namespace: string;
  allNamespaces?: boolean;
  selector?: string;
  containers?: boolean;
  sortBy?: 'cpu' | 'memory';
  headers: boolean;
  watch?: boolean;
};

type Amounts = { milliCores: number; bytes: number };
type Row = Amounts & { cells: string[] };

/** `podwright top pods [NAME]`, `top node`. */
export async function top(
  { config }: CommandContext,
  [type, name]: [string, string?],
  options: TopOptions,
): Promise<void> {
  const kind = kindOfWord(type)?.kind;
  if (kind !== 'Pod' && kind !== 'Node')
    throw new PodwrightError('invalid_argument', `top ${type}: use 'top pods' or 'top node'`);
  const client = new ObjectClient(config.apiSocket);
  const read = () => (kind === 'Node' ? nodeTable(client, name, options) : podTable(client, name, options));
  if (!options.watch) {
    const text = await read();
    return text === '' ? undefined : print(text);
  }
  await redraw(read, { periodMs: TOP_PERIOD_MS, shown: 'first' });
}

async function podTable(client: ObjectClient, name: string | undefined, options: TopOptions): Promise<string> {
  const { namespace, allNamespaces, selector } = options;
  const found = await client.podUsage({ namespace: allNamespaces ? undefined : namespace, labelSelector: selector });
  if (name !== undefined) await client.get(POD, name, namespace); // fails for a pod that does not exist
  const pods = found.filter(({ metadata }) => name === undefined || metadata.name === name);
  if (pods.length === 0)
    return nothing(name === undefined ? nothingRuns(options) : `no container of pod ${name} runs`, options);
  const rows = pods.toSorted(byName).flatMap((pod) => (options.containers ? containerRows(pod) : [podRow(pod)]));
  const importance = namespaceImportance(new Set(pods.map(({ metadata }) => metadata.namespace)));
  const namespaces = allNamespaces ? [{ title: 'NAMESPACE', importance }] : [];
  const names = options.containers ? ['POD', 'NAME'] : ['NAME'];
  const shown = rows.map((row) => (allNamespaces ? row : { ...row, cells: row.cells.slice(1) }));
  return table([...namespaces, ...names, 'CPU(cores)', 'MEMORY(bytes)'], shown, options);
}

/** With `--watch`, returns the message to show in place of the table; otherwise, prints it to standard error. */
function nothing(message: string, { watch }: TopOptions): string {
  if (watch) return message;
  printError(message);
  return '';
}

const byName = ({ metadata: a }: PodUsage, { metadata: b }: PodUsage) =>
  `${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1;

function nothingRuns({ namespace, allNamespaces }: TopOptions): string {
  return allNamespaces ? 'no pods run' : `no pods run in the namespace ${namespace}; -A shows those of all namespaces`;
}

function podRow({ metadata, containers }: PodUsage): Row {
  const used = containers.map(({ usage }) => amountsOf(usage));
  const sum = {
    milliCores: used.reduce((all, { milliCores }) => all + milliCores, 0),
    bytes: used.reduce((all, { bytes }) => all + bytes, 0),
  };
  return { ...sum, cells: [metadata.namespace, metadata.name, ...quantities(sum)] };
}

function containerRows({ metadata, containers }: PodUsage): Row[] {
  return containers.map(({ name, usage }) => {
    const used = amountsOf(usage);
    return { ...used, cells: [metadata.namespace, metadata.name, name, ...quantities(used)] };
  });
}

/** Formats the same table as kubectl, with percentages of the allocatable resources. */
async function nodeTable(client: ObjectClient, name: string | undefined, options: TopOptions): Promise<string> {
  const kind = kindOfWord('nodes')!;
  if (name !== undefined) await client.get(kind, name, ''); // fails for a node that does not exist
  const [nodes, found] = await Promise.all([client.list(kind), client.nodeUsage()]);
  const usages = found.filter(({ metadata }) => name === undefined || metadata.name === name);
  const rows = usages.map(({ metadata, usage }) => {
    const used = amountsOf(usage);
    const node = nodes.find((one) => one.metadata.name === metadata.name) as NodeObject | undefined;
    const has = amountsOf({ cpu: '0', memory: '0', ...node?.status?.allocatable });
    const [cpu, memory] = quantities(used);
    return {
      ...used,
      cells: [metadata.name, cpu, percent(used.milliCores, has.milliCores), memory, percent(used.bytes, has.bytes)],
    };
  });
  return table(['NAME', 'CPU(cores)', 'CPU(%)', 'MEMORY(bytes)', 'MEMORY(%)'], rows, options);
}

function table(titles: Column[], rows: Row[], { sortBy, headers }: TopOptions): string {
  const by = { cpu: ({ milliCores }: Row) => milliCores, memory: ({ bytes }: Row) => bytes };
  const sorted = sortBy === undefined ? rows : rows.toSorted((a, b) => by[sortBy](b) - by[sortBy](a));
  if (sorted.length === 0) return '';
  const text = renderTable(
    titles,
    sorted.map(({ cells }) => cells),
    terminalWidth(),
  );
  return headers ? text : text.slice(text.indexOf('\n') + 1);
}

const amountsOf = ({ cpu, memory }: Usage): Amounts => ({
  milliCores: Number(quantityMilliValue(cpu)),
  bytes: Number(quantityValue(memory)),
});

/** Formats amounts in kubectl's units: millicores and MiB. */
function quantities({ milliCores, bytes }: Amounts): [string, string] {
  return [`${milliCores}m`, `${Math.floor(bytes / 2 ** 20)}Mi`];
}

const percent = (used: number, of: number) => (of > 0 ? `${Math.floor((used / of) * 100)}%` : '<unknown>');
