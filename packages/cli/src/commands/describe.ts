import { errorMessage, isNotFound, PodwrightError } from '@podwright/base';
import type { Event, Pod } from '@podwright/kube-api';
import type { PodDefaults } from '@podwright/kubelet';
import { NodeClient } from '../client/node-client.ts';
import { type ApiObject, ObjectClient } from '../client/object-client.ts';
import { type NamedObject, OBJECT_KINDS, POD, parseObjects, refuseNamesInAll } from '../client/object-names.ts';
import { type OutputFormat, printAs } from '../output/format.ts';
import { type OutlineEntry, renderOutline } from '../output/outline.ts';
import { terminalWidth } from '../output/terminal.ts';
import { printError } from '../output/terminal-text.ts';
import type { CommandContext } from '../settings/node-config.ts';
import {
  describeClaim,
  describeConfigMap,
  describeNode,
  describeRuntimeClass,
  describeSecret,
} from './describe-objects.ts';
import { describePod } from './describe-pod.ts';
import { eventTable } from './events.ts';
import { nothingFound } from './get.ts';

export type DescribeOptions = { namespace: string; allNamespaces?: boolean; selector?: string; output: OutputFormat };

type Described = { object: ApiObject; events: Event[] };
/** Data that a description needs in addition to the object itself. */
type Surroundings = { pods: Pod[]; defaults: PodDefaults | undefined };

/** `podwright describe POD…`, `describe TYPE NAME…`, `describe TYPE/NAME…`, `describe TYPE [-l SELECTOR]`. */
export async function describe({ config }: CommandContext, words: string[], options: DescribeOptions): Promise<void> {
  const client = new ObjectClient(config.apiSocket);
  const { objects, missing } = await chosen(client, words, options);
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

async function chosen(client: ObjectClient, words: string[], options: DescribeOptions) {
  const { namespace, allNamespaces, selector } = options;
  const selection = parseObjects(words, { bare: POD });
  refuseNamesInAll('describe', selection, allNamespaces);
  const { kinds, named } = selection;
  if (kinds.some(({ kind }) => kind === 'Image' || kind === 'Event')) {
    throw new PodwrightError('invalid_argument', `describe ${words.join(' ')}: not supported; use 'podwright get'`);
  }
  if (named.length === 0) {
    const query = { namespace: allNamespaces ? undefined : namespace, labelSelector: selector };
    const objects = (await Promise.all(kinds.map((kind) => client.list(kind, query)))).flat();
    if (objects.length === 0) printError(nothingFound(kinds, options));
    return { objects, missing: [] };
  }
  const missing: string[] = [];
  const found = named.map(({ kind, name }) =>
    client.get(kind, name, namespace).then(
      (object) => [object],
      async (error: unknown) => {
        if (!isNotFound(error)) throw error;
        const matching = await startingWith(client, { kind, name }, namespace);
        if (matching.length === 0) missing.push(errorMessage(error));
        return matching;
      },
    ),
  );
  return { objects: (await Promise.all(found)).flat(), missing };
}

/** Returns the objects whose names start with a name that does not exist, as in `kubectl describe`. */
async function startingWith(client: ObjectClient, { kind, name }: NamedObject, namespace: string) {
  const objects = await client.list(kind, { namespace });
  return objects.filter(({ metadata }) => metadata.name.startsWith(name));
}

/** Returns the object's events. Matching by UID excludes events of earlier objects with the same name. */
async function eventsOf(
  client: ObjectClient,
  { kind, metadata: { name, namespace, uid } }: ApiObject,
): Promise<Event[]> {
  const fields = [
    `involvedObject.kind=${kind}`,
    `involvedObject.name=${name}`,
    ...(uid ? [`involvedObject.uid=${uid}`] : []),
  ];
  const events = OBJECT_KINDS.find((known) => known.kind === 'Event')!;
  const query = { namespace: namespace || undefined, fieldSelector: fields.join(',') };
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
