import { PodwrightError } from '@podwright/base';
import { completeEvent, type Event, type EventType, type ReceivedEvent } from '@podwright/kube-api';
import { type ApiObject, ObjectClient, type ObjectQuery } from '../client/object-client.ts';
import { kindOfWord, parseObjects } from '../client/object-names.ts';
import { MAX_SHOWN_EVENTS, SHOWN_EVENTS_AGE_MS } from '../limits.ts';
import { isTable, printValue } from '../output/object-format.ts';
import { terminalWidth } from '../output/terminal.ts';
import { printError } from '../output/terminal-text.ts';
import { wrappedRows } from '../output/wrapped-table.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { type PrintOptions, printName, TablePrinter } from './object-printer.ts';
import { columnsOf, eventContainer, lastSeen } from './object-tables.ts';

export type EventsOptions = PrintOptions & {
  namespace: string;
  allNamespaces?: boolean;
  watch?: boolean;
  /** Show only events about this object (`TYPE/NAME`). */
  for?: string;
  types?: EventType[];
  /** Also show events that are not recent. */
  all?: boolean;
};

const EVENTS = kindOfWord('events')!;

/** `podwright events`: prints recent events, oldest first. */
export async function events({ config }: CommandContext, options: EventsOptions): Promise<void> {
  const client = new ObjectClient(config.apiSocket);
  const query = queryOf(options);
  const isWanted = (event: ApiObject) => options.types?.includes((event as Event).type) ?? true;
  if (options.watch) return watch(client, query, { options, isWanted });
  const found = (await client.list(EVENTS, query))
    .map((event) => completeEvent(event as ReceivedEvent))
    .filter(isWanted);
  const shown = options.all ? byTime(found) : recentEvents(found, Date.now());
  const older = found.length - shown.length;
  const printed = await printEvents(shown, tableOf(options), options);
  if (older > 0) printError(`${older} older ${older === 1 ? 'event is' : 'events are'} not shown; --all shows them`);
  else if (!printed) printError(nothingHappened(options));
}

function queryOf({ namespace, allNamespaces, for: about }: EventsOptions): ObjectQuery {
  const query: ObjectQuery = { namespace: allNamespaces ? undefined : namespace };
  if (about === undefined) return query;
  const { named } = parseObjects([about]);
  const [object] = named;
  if (object === undefined || named.length > 1)
    throw new PodwrightError('invalid_argument', `--for ${about}: TYPE/NAME is needed, such as pod/web`);
  // search all namespaces: events about a node are in `default`, whichever namespace was requested
  if (object.kind.kind === 'Node') query.namespace = undefined;
  query.fieldSelector = `involvedObject.kind=${object.kind.kind},involvedObject.name=${object.name}`;
  return query;
}

/** Returns the events of the last hour, up to a maximum number; the oldest are dropped. */
export function recentEvents(events: Event[], nowMs: number): Event[] {
  const recent = events.filter(({ lastTimestamp }) => nowMs - Date.parse(lastTimestamp) <= SHOWN_EVENTS_AGE_MS);
  return byTime(recent).slice(-MAX_SHOWN_EVENTS);
}

const byTime = (events: Event[]) => events.toSorted((a, b) => a.lastTimestamp.localeCompare(b.lastTimestamp));

const tableOf = (options: EventsOptions) =>
  new TablePrinter(columnsOf(EVENTS, { allNamespaces: options.allNamespaces ?? false, withType: false }), options);

/** Prints the events in the selected format. Returns whether anything was printed. */
async function printEvents(events: Event[], table: TablePrinter, { output }: EventsOptions): Promise<boolean> {
  if (output.type === 'name') events.forEach(printName);
  else if (isTable(output)) table.print(events);
  else {
    await printValue(output, { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' }, items: events });
    return true;
  }
  return events.length > 0;
}

type Watching = { options: EventsOptions; isWanted: (event: ApiObject) => boolean };

/** Prints recent events, then new ones. Ends when the node stops. */
async function watch(client: ObjectClient, query: ObjectQuery, { options, isWanted }: Watching): Promise<void> {
  const table = tableOf(options);
  const present: Event[] = [];
  let listed = false;
  const { output } = options;
  const show = async (events: Event[]) => {
    if (isTable(output) || output.type === 'name') return void (await printEvents(events, table, options));
    for (const event of events) await printValue(output, event);
  };
  for await (const change of client.watch(EVENTS, query, new AbortController().signal)) {
    if (change.type === 'listed') {
      listed = true;
      await show(options.all ? byTime(present) : recentEvents(present, Date.now()));
    } else if (isWanted(change.object)) {
      const event = completeEvent(change.object as ReceivedEvent);
      if (listed) await show([event]);
      else present.push(event);
    }
  }
}

function nothingHappened({ namespace, allNamespaces, for: about }: EventsOptions): string {
  const what = `no events${about === undefined ? '' : ` about ${about}`}`;
  return allNamespaces ? what : `${what} in the namespace ${namespace}; -A shows those of all namespaces`;
}

/** Formats the events of a single object, oldest first, with full messages. */
export function eventTable(items: Event[]): string {
  if (items.length === 0) return 'no events';
  const now = Date.now();
  const ofContainers = items.some((event) => eventContainer(event) !== '');
  const rows = wrappedRows(
    ['LAST SEEN', 'TYPE', 'REASON', ...(ofContainers ? ['CONTAINER'] : []), 'MESSAGE'],
    byTime(items).map((event) => [
      lastSeen(event, now),
      event.type,
      event.reason,
      ...(ofContainers ? [eventContainer(event)] : []),
      event.message,
    ]),
    terminalWidth(),
  );
  return rows.join('\n');
}
