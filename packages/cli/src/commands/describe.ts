import { PodwrightError } from '@podwright/base';
import { type Event, eventSelector, type Pod } from '@podwright/kube-api';
import type { PodDefaults } from '@podwright/kubelet';
import { knownKinds } from '../client/known-kinds.ts';
import { NodeClient } from '../client/node-client.ts';
import { type ApiObject, ObjectClient } from '../client/object-client.ts';
import { isApiKind, OBJECT_KINDS, POD, parseObjects, refuseNamesInAll } from '../client/object-names.ts';
import { printAs } from '../output/format.ts';
import { type OutlineEntry, renderOutline } from '../output/outline.ts';
import { terminalWidth } from '../output/terminal.ts';
import type { CommandContext } from '../settings/node-config.ts';
import {
  describeClaim,
  describeConfigMap,
  describeNode,
  describeRuntimeClass,
  describeSecret,
} from './describe-objects.ts';
import { describePod } from './describe-pod.ts';
import { chosen, type DescribeOptions } from './describe-selection.ts';
import { eventTable } from './events.ts';

type Described = { object: ApiObject; events: Event[] };
/**
 * What the description of an object is based on in addition to the object and its events: the pods of a node, and the node's defaults for
 * pods.
 */
type Surroundings = { pods: Pod[]; defaults: PodDefaults | undefined };

/** `podwright describe POD…`, `describe TYPE NAME…`, `describe TYPE/NAME…`, `describe TYPE [-l SELECTOR]`. */
export async function describe({ config }: CommandContext, words: string[], options: DescribeOptions): Promise<void> {
  const client = new ObjectClient(config.apiSocket);
  const selection = parseObjects(words, { bare: POD, known: await knownKinds(config.apiSocket, words) });
  refuseNamesInAll('describe', selection, options.allNamespaces);
  if (selection.kinds.some(isApiKind))
    return (await import('./describe-api-objects.ts')).describeApiObjects(config.apiSocket, selection, options);
  const { objects, missing } = await chosen(client, selection, options);
  const { podDefaults: defaults } = await new NodeClient(config.apiSocket).node();
  const pods = objects.some(({ kind }) => kind === 'Node') ? ((await client.list(POD)) as Pod[]) : [];
  const described = await Promise.all(
    objects.map(async (object) => ({ object, events: await eventsOf(client, object) })),
  );
  const values = described.map(({ object, events }) => ({ [fieldOf(object)]: object, events }));
  if (described.length > 0) {
    await printAs(options.output, values.length === 1 ? values[0] : values, () =>
      described.map((one) => text(one, { pods, defaults })).join('\n\n'),
    );
  }
  if (missing.length > 0) throw new PodwrightError('not_found', missing.join('\n'));
}

async function eventsOf(
  client: ObjectClient,
  { kind, metadata: { name, namespace, uid } }: ApiObject,
): Promise<Event[]> {
  const events = OBJECT_KINDS.find((known) => known.kind === 'Event')!;
  const query = { namespace: namespace || undefined, fieldSelector: eventSelector({ kind, name, uid }) };
  return (await client.list(events, query)) as Event[];
}

function text({ object, events }: Described, surroundings: Surroundings): string {
  const outline = renderOutline(entriesOf(object, surroundings), terminalWidth()).join('\n');
  return `${outline}\nEvents:\n${eventTable(events)}`;
}

function entriesOf(object: ApiObject, { pods, defaults }: Surroundings): OutlineEntry[] {
  switch (object.kind) {
    case 'Pod':
      return describePod(object, defaults);
    case 'ConfigMap':
      return describeConfigMap(object);
    case 'Secret':
      return describeSecret(object);
    case 'PersistentVolumeClaim':
      return describeClaim(object);
    case 'RuntimeClass':
      return describeRuntimeClass(object);
    case 'Node':
      return describeNode(object, pods);
    case 'Event':
      return [];
  }
}

const fieldOf = ({ kind }: ApiObject) => kind[0]!.toLowerCase() + kind.slice(1);
