import type { Event } from '@podwright/kubelet';
import { NodeClient } from '../client/node-client.ts';
import { type OutputFormat, printAs } from '../output/format.ts';
import { renderTable } from '../output/table.ts';
import { terminalWidth } from '../output/terminal.ts';
import { escapeLine, print, terminalJson } from '../output/terminal-text.ts';
import { formatAge } from '../output/units.ts';
import type { CommandContext } from '../settings/node-config.ts';

export type EventsOptions = { output: OutputFormat; watch?: boolean };

/** `podwright events`. */
export async function events({ config }: CommandContext, options: EventsOptions): Promise<void> {
  const client = new NodeClient(config.apiSocket);
  if (!options.watch) {
    const items = await client.events();
    return printAs(options.output, { apiVersion: 'v1', kind: 'EventList', items }, () => eventTable(items));
  }
  const watching = new AbortController();
  process.once('SIGINT', () => watching.abort());
  for await (const { object } of client.watchEvents(watching.signal)) {
    if (options.output === 'json') console.log(terminalJson(object));
    else print(eventRow(object, Date.now()).map(escapeLine).join('   '));
  }
}

/** Events as kubectl prints them, oldest first. */
export function eventTable(items: Event[]): string {
  if (items.length === 0) return 'no events';
  const now = Date.now();
  const sorted = items.toSorted((a, b) => a.lastTimestamp.localeCompare(b.lastTimestamp));
  return renderTable(
    ['LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE'],
    sorted.map((event) => eventRow(event, now)),
    terminalWidth(),
  );
}

function eventRow(event: Event, now: number): string[] {
  const age = formatAge(event.lastTimestamp, now) + (event.count > 1 ? ` (x${event.count})` : '');
  const { kind, namespace, name } = event.involvedObject;
  const label = `${kind.toLowerCase()}/${namespace === 'default' ? '' : `${namespace}/`}${name}`;
  return [age, event.type, event.reason, label, event.message];
}
