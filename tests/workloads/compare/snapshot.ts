/** The objects of a scenario without what differs between any two runs: generated names, UIDs, versions and times. */
import { isRecord } from '@podwright/base';
import type { KubeObject, Pod, Resource } from '@podwright/kube-api';
import { EVENTS, type Informer, type KubeClient, PODS, startInformer } from '@podwright/kube-client';
import type { Names } from './names.ts';
import { ENDPOINT_SLICES, SHOWN, STATEFUL_SETS } from './resources.ts';

export type Snapshot = { objects: Map<string, unknown>; events: string[] };

const DROPPED = new Set([
  ...['generateName', 'uid', 'resourceVersion', 'managedFields', 'creationTimestamp', 'selfLink'],
  'authentication.kubernetes.io/credential-id',
  // of the last change of a pod whose handling was not combined with that of another
  'endpoints.kubernetes.io/last-change-trigger-time',
]);
/** Contents that differ between two control planes. */
const SECRET = new Set(['ca.crt', 'token', 'certificate']);
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;

type Event = KubeObject & {
  reason: string;
  message: string;
  type: string;
  involvedObject: { kind: string; name: string; namespace?: string };
  source?: { component?: string };
};
type StatefulSet = KubeObject & { spec?: { podManagementPolicy?: string } };
type Related = KubeObject & {
  spec?: { claimRef?: { namespace?: string } };
  involvedObject?: { namespace?: string; name?: string };
};

const keyOf = ({ plural, group }: Resource) => `${plural}.${group}`;
/** The distribution from which the upstream programs were built adds such a ConfigMap to each namespace. */
const FOREIGN = 'openshift-service-ca.crt';

/** Follows all objects of a side. */
export class Watched {
  readonly #informers = new Map<string, Informer<KubeObject>>();
  readonly #events: Informer<Event>;
  #changedAtMs = 0;
  #prefix = '-';
  /** Creations and deletions of pods with fixed names, in their order. */
  #order: string[] = [];
  readonly #deleting = new Set<string>();

  static async start(client: KubeClient): Promise<Watched> {
    const watched = new Watched(client);
    await Promise.all([...watched.#informers.values(), watched.#events].map(({ synced }) => synced));
    return watched;
  }

  constructor(client: KubeClient) {
    const changed = (object: KubeObject) => {
      if (this.#belongs(object)) this.#changedAtMs = performance.now();
    };
    for (const resource of SHOWN) {
      const key = keyOf(resource);
      const onChange = (change: { type: string; object: KubeObject }) => {
        changed(change.object);
        if (resource === PODS && this.#belongs(change.object)) this.#note(change.type, change.object as Pod);
      };
      this.#informers.set(key, startInformer<KubeObject>(client, { resource, onChange }));
    }
    // an event that only counts again is no change
    const added = ({ type, object }: { type: string; object: Event }) => {
      if (type === 'ADDED') changed(object);
    };
    this.#events = startInformer<Event>(client, { resource: EVENTS, onChange: added });
  }

  /** Starts with the objects whose namespace or name begins with the prefix. */
  follow(prefix: string): void {
    this.#prefix = prefix;
    this.#order = [];
    this.#changedAtMs = performance.now();
  }

  /** Counts the time of rest from now on. */
  awake(): void {
    this.#changedAtMs = performance.now();
  }

  /** How long no object has changed. */
  get restMs(): number {
    return performance.now() - this.#changedAtMs;
  }

  stop(): void {
    for (const informer of [...this.#informers.values(), this.#events]) informer.stop();
  }

  /** The objects by their kinds, and the events, as texts. */
  snapshot(names: Names): Snapshot {
    const own = [...this.#informers].map(([kind, informer]) => {
      return [kind, informer.list().filter((one) => this.#belongs(one))] as const;
    });
    for (const [, items] of own) for (const { metadata } of items.toSorted(byAge)) names.learn(metadata);
    const objects = new Map<string, unknown>();
    for (const [kind, items] of own) {
      const shown = items.map((one) => (kind.startsWith(ENDPOINT_SLICES.plural) ? ordered(one as Slice) : one));
      const texts = shown
        .map((one) => [names.shown(one.metadata.name!), JSON.stringify(masked(one, names))] as const)
        .sort(([, a], [, b]) => (a < b ? -1 : 1));
      for (const [name, text] of texts) objects.set(freeKey(objects, `${kind}/${name}`), JSON.parse(text));
    }
    objects.set('order of pods', this.#order.map((one) => names.shown(one)).join(' '));
    return { objects, events: this.#eventTexts(names) };
  }

  #note(type: string, { metadata }: Pod): void {
    const { name, deletionTimestamp } = metadata;
    const set = metadata.ownerReferences?.find(({ kind }) => kind === 'StatefulSet')?.name;
    const owner = set === undefined ? undefined : this.#stateful.get({ namespace: metadata.namespace, name: set });
    // the garbage collector deletes in any order
    if (owner === undefined || owner.metadata.deletionTimestamp !== undefined) return;
    if (owner.spec?.podManagementPolicy !== 'OrderedReady') return;
    if (type === 'ADDED') this.#order.push(`+${name}`);
    if (type === 'MODIFIED' && deletionTimestamp !== undefined && !this.#deleting.has(metadata.uid!)) {
      this.#deleting.add(metadata.uid!);
      this.#order.push(`-${name}`);
    }
  }

  #eventTexts(names: Names): string[] {
    // counts differ between two runs of upstream's controllers too
    return [
      ...new Set(
        this.#events
          .list()
          .filter((one) => this.#belongs(one))
          // which of more than ten similar events are combined is random, and which budget is named
          .filter(
            ({ involvedObject, message }) =>
              involvedObject.kind !== 'Node' && !/^\(combined|multiple PodDisruptionBudgets/.test(message),
          )
          .map(({ involvedObject, reason, message, type, source }) => {
            const where = names.shown(`${involvedObject.kind}/${involvedObject.name}`);
            return `${source?.component} ${where}: ${type} ${reason}: ${names.shown(message)}`;
          }),
      ),
    ].sort();
  }

  get #stateful(): Informer<StatefulSet> {
    return this.#informers.get(keyOf(STATEFUL_SETS)) as Informer<StatefulSet>;
  }

  #belongs(object: Related): boolean {
    const { metadata, spec, involvedObject } = object;
    if (metadata.name === FOREIGN) return false;
    const places = [metadata.namespace, metadata.name, spec?.claimRef?.namespace, involvedObject?.namespace];
    return [...places, involvedObject?.name].some((place) => place?.startsWith(this.#prefix));
  }
}

/** Names with random parts are the same once these are replaced. */
function freeKey(objects: ReadonlyMap<string, unknown>, name: string): string {
  let number = 0;
  while (objects.has(`${name} ${number}`)) number++;
  return `${name} ${number}`;
}

type Slice = KubeObject & { endpoints?: { addresses: string[] }[] | null };

/** Upstream's order of endpoints is random, and the number of writes depends on how many changes of pods are handled at once. */
function ordered(slice: Slice): Slice {
  const endpoints = slice.endpoints?.toSorted((a, b) => (a.addresses[0]! < b.addresses[0]! ? -1 : 1));
  return { ...slice, metadata: { ...slice.metadata, generation: 0 }, ...(endpoints !== undefined && { endpoints }) };
}

function byAge({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number {
  const key = ({ creationTimestamp = '', annotations = {}, name = '' }: KubeObject['metadata']) =>
    `${creationTimestamp} ${annotations['deployment.kubernetes.io/revision'] ?? ''} ${name}`;
  return key(a) < key(b) ? -1 : 1;
}

function masked(value: unknown, names: Names, key = ''): unknown {
  if (typeof value === 'string') {
    if (SECRET.has(key)) return 'CONTENT';
    if (TIME.test(value)) return 'TIME';
    return /^10\.\d+\.\d+\.\d+$/.test(value) ? 'ADDRESS' : names.shown(value);
  }
  // kube-apiserver stores empty lists as none
  if (Array.isArray(value)) return value.length === 0 ? null : value.map((one) => masked(one, names));
  if (!isRecord(value)) return value;
  const shown = Object.entries(value)
    .filter(([field]) => !DROPPED.has(field))
    .map(([field, one]) => [names.shown(field), masked(one, names, field)] as const)
    .filter(([field, one]) => field !== 'annotations' || Object.keys(one as object).length > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(shown);
}
