/** The objects of a namespace without what differs between any two runs: generated names, UIDs, versions and times. */
import { isRecord } from '@podwright/base';
import type { KubeObject, Resource } from '@podwright/kube-api';
import { EVENTS, type KubeClient, PODS, SERVICES } from '@podwright/kube-client';

const resource = (group: string, plural: string, kind: string): Resource => ({
  group,
  version: 'v1',
  plural,
  kind,
  namespaced: true,
});

export const DEPLOYMENTS = resource('apps', 'deployments', 'Deployment');
export const REPLICA_SETS = resource('apps', 'replicasets', 'ReplicaSet');
export const REPLICATION_CONTROLLERS = resource('', 'replicationcontrollers', 'ReplicationController');
export const ENDPOINTS = resource('', 'endpoints', 'Endpoints');
export const ENDPOINT_SLICES = resource('discovery.k8s.io', 'endpointslices', 'EndpointSlice');
export const BUDGETS = resource('policy', 'poddisruptionbudgets', 'PodDisruptionBudget');

const SHOWN = [DEPLOYMENTS, REPLICA_SETS, REPLICATION_CONTROLLERS, PODS, SERVICES, ENDPOINTS, ENDPOINT_SLICES, BUDGETS];
const DROPPED = new Set(['generateName', 'uid', 'resourceVersion', 'managedFields', 'creationTimestamp', 'selfLink']);
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;

type Event = KubeObject & {
  reason: string;
  message: string;
  type: string;
  count?: number;
  involvedObject: { kind: string; name: string };
  source?: { component?: string };
};

/** Returns the objects as texts by their names, and the events as texts in their order. */
export async function snapshot(
  client: KubeClient,
  { namespace, names }: { namespace: string; names: Names },
): Promise<{ objects: Map<string, unknown>; events: string[] }> {
  const lists = await Promise.all(SHOWN.map((one) => client.list<KubeObject>(one, { namespace })));
  for (const { items } of lists) for (const { metadata } of [...items].sort(byAge)) names.learn(metadata);
  const objects = new Map<string, unknown>();
  for (const [index, { items }] of lists.entries()) {
    // the number of writes of a slice depends on how many changes of pods are handled at once
    if (SHOWN[index] === ENDPOINT_SLICES) for (const slice of items) normalize(slice as Slice);
    const texts = items
      .map((one) => masked(one, names))
      .map((one) => JSON.stringify(one))
      .sort();
    for (const [at, text] of texts.entries()) objects.set(`${SHOWN[index]!.plural} ${at}`, JSON.parse(text));
  }
  const { items } = await client.list<Event>(EVENTS, { namespace });
  const events = items
    // which of more than ten similar events are combined is random, and which budget is named
    .filter(
      ({ involvedObject, message }) =>
        involvedObject.kind !== 'Node' && !/^\(combined|multiple PodDisruptionBudgets/.test(message),
    )
    .map(({ involvedObject, reason, message, type, source, count = 1 }) => {
      const where = names.shown(`${involvedObject.kind}/${involvedObject.name}`);
      return `${source?.component} ${where}: ${type} ${reason}: ${names.shown(message)} ×${count}`;
    });
  return { objects, events: events.sort() };
}

type Slice = KubeObject & { endpoints?: { addresses: string[] }[] | null };

/** Upstream's order of endpoints is random. */
function normalize(slice: Slice): void {
  slice.metadata.generation = 0;
  slice.endpoints?.sort((a, b) => (a.addresses[0]! < b.addresses[0]! ? -1 : 1));
}

function byAge({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number {
  const key = ({ creationTimestamp = '', annotations = {}, name = '' }: KubeObject['metadata']) =>
    `${creationTimestamp} ${annotations['deployment.kubernetes.io/revision'] ?? ''} ${name}`;
  return key(a) < key(b) ? -1 : 1;
}

/** Replaces hashes and random parts of names. Hashes are numbered in the order in which they appear. */
export class Names {
  readonly #hashes: string[] = [];

  learn({ labels = {} }: KubeObject['metadata']): void {
    const hash = labels['pod-template-hash'];
    if (hash !== undefined && !this.#hashes.includes(hash)) this.#hashes.push(hash);
  }

  shown(text: string): string {
    let result = text;
    for (const [index, hash] of this.#hashes.entries()) result = result.replaceAll(hash, `HASH${index}`);
    return result
      .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b/g, 'UID')
      .replaceAll(/-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '-RANDOM');
  }
}

function masked(value: unknown, names: Names): unknown {
  if (typeof value === 'string') {
    if (TIME.test(value)) return 'TIME';
    return /^10\.\d+\.\d+\.\d+$/.test(value) ? 'ADDRESS' : names.shown(value);
  }
  if (Array.isArray(value)) return value.map((one) => masked(one, names));
  if (!isRecord(value)) return value;
  const fields = Object.entries(value)
    .filter(([key]) => !DROPPED.has(key))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([key, one]) => [names.shown(key), masked(one, names)]));
}
