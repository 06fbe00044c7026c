/** A scenario's objects and events, without what differs between any two runs: generated names, UIDs, versions and times. */
import { isRecord } from '@podwright/base';
import type { KubeObject, Pod, Resource } from '@podwright/kube-api';
import { EVENTS, type Informer, type KubeClient, PODS, startInformer } from '@podwright/kube-client';
import type { GeneratedNames } from './names.ts';
import { COMPARED_RESOURCES, ENDPOINT_SLICES, STATEFUL_SETS } from './resources.ts';

export type Snapshot = { objects: Map<string, unknown>; events: string[] };

/** Fields and annotations of objects that are not compared. */
const IGNORED_FIELDS = new Set([
  ...['generateName', 'uid', 'resourceVersion', 'managedFields', 'creationTimestamp', 'selfLink'],
  'authentication.kubernetes.io/credential-id',
  // depends on which pod changes a controller happens to handle together
  'endpoints.kubernetes.io/last-change-trigger-time',
]);
/** Fields whose contents differ between any two control planes; only their presence is compared. */
const MASKED_FIELDS = new Set(['ca.crt', 'token', 'certificate']);
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
/** A ConfigMap that OpenShift's kube-controller-manager publishes in every namespace. */
const OPENSHIFT_CONFIG_MAP = 'openshift-service-ca.crt';

/** Watches the objects of a control plane that are to be compared. */
export class WatchedObjects {
  readonly #informers = new Map<string, Informer<KubeObject>>();
  readonly #events: Informer<Event>;
  #changedAtMs = 0;
  #prefix = '-';
  /** Creations (`+NAME`) and deletions (`-NAME`) of the pods of ordered StatefulSets, in the order observed. */
  #podOrder: string[] = [];
  readonly #deleting = new Set<string>();

  static async start(client: KubeClient): Promise<WatchedObjects> {
    const watched = new WatchedObjects(client);
    await Promise.all([...watched.#informers.values(), watched.#events].map(({ synced }) => synced));
    return watched;
  }

  constructor(client: KubeClient) {
    const changed = (object: KubeObject) => {
      if (this.#belongs(object)) this.#changedAtMs = performance.now();
    };
    for (const resource of COMPARED_RESOURCES) {
      const key = keyOf(resource);
      const onChange = (change: { type: string; object: KubeObject }) => {
        changed(change.object);
        if (resource === PODS && this.#belongs(change.object)) this.#recordOrder(change.type, change.object as Pod);
      };
      this.#informers.set(key, startInformer<KubeObject>(client, { resource, onChange }));
    }
    // a higher count on an existing event does not count as a change
    const added = ({ type, object }: { type: string; object: Event }) => {
      if (type === 'ADDED') changed(object);
    };
    this.#events = startInformer<Event>(client, { resource: EVENTS, onChange: added });
  }

  /** Limits snapshots to a scenario's objects: those whose namespace or name starts with the prefix. */
  follow(prefix: string): void {
    this.#prefix = prefix;
    this.#podOrder = [];
    this.#changedAtMs = performance.now();
  }

  /** Sets `restMs` to 0, so that objects count as just changed. */
  resetRest(): void {
    this.#changedAtMs = performance.now();
  }

  /** Milliseconds since an object last changed. */
  get restMs(): number {
    return performance.now() - this.#changedAtMs;
  }

  stop(): void {
    for (const informer of [...this.#informers.values(), this.#events]) informer.stop();
  }

  /** Returns the objects by `KIND/NAME NUMBER`, and the events as sorted strings. */
  snapshot(names: GeneratedNames): Snapshot {
    const own = [...this.#informers].map(([kind, informer]) => {
      return [kind, informer.list().filter((one) => this.#belongs(one))] as const;
    });
    for (const [, items] of own) for (const { metadata } of items.toSorted(byAge)) names.findHashes(metadata);
    const objects = new Map<string, unknown>();
    for (const [kind, items] of own) {
      const shown = items.map((one) =>
        kind.startsWith(ENDPOINT_SLICES.plural) ? withSortedEndpoints(one as Slice) : one,
      );
      const texts = shown
        .map((one) => [names.replaceIn(one.metadata.name!), JSON.stringify(masked(one, names))] as const)
        .sort(([, a], [, b]) => (a < b ? -1 : 1));
      for (const [name, text] of texts) objects.set(numberedKey(objects, `${kind}/${name}`), JSON.parse(text));
    }
    objects.set('order of pods', this.#podOrder.map((one) => names.replaceIn(one)).join(' '));
    return { objects, events: this.#eventTexts(names) };
  }

  #recordOrder(type: string, { metadata }: Pod): void {
    const { name, deletionTimestamp } = metadata;
    const set = metadata.ownerReferences?.find(({ kind }) => kind === 'StatefulSet')?.name;
    const owner = set === undefined ? undefined : this.#stateful.get({ namespace: metadata.namespace, name: set });
    // once a StatefulSet is being deleted, its pods have no order, because the garbage collector deletes them
    if (owner === undefined || owner.metadata.deletionTimestamp !== undefined) return;
    if (owner.spec?.podManagementPolicy !== 'OrderedReady') return;
    if (type === 'ADDED') this.#podOrder.push(`+${name}`);
    if (type === 'MODIFIED' && deletionTimestamp !== undefined && !this.#deleting.has(metadata.uid!)) {
      this.#deleting.add(metadata.uid!);
      this.#podOrder.push(`-${name}`);
    }
  }

  #eventTexts(names: GeneratedNames): string[] {
    // an event's count differs even between runs of upstream's controllers, so list each text once
    return [
      ...new Set(
        this.#events
          .list()
          .filter((one) => this.#belongs(one))
          // leave out combined events and messages that mention one of several budgets: which events are combined and which budget is
          // mentioned is random
          .filter(
            ({ involvedObject, message }) =>
              involvedObject.kind !== 'Node' && !/^\(combined|multiple PodDisruptionBudgets/.test(message),
          )
          .map(({ involvedObject, reason, message, type, source }) => {
            const where = names.replaceIn(`${involvedObject.kind}/${involvedObject.name}`);
            return `${source?.component} ${where}: ${type} ${reason}: ${names.replaceIn(message)}`;
          }),
      ),
    ].sort();
  }

  get #stateful(): Informer<StatefulSet> {
    return this.#informers.get(keyOf(STATEFUL_SETS)) as Informer<StatefulSet>;
  }

  #belongs(object: Related): boolean {
    const { metadata, spec, involvedObject } = object;
    if (metadata.name === OPENSHIFT_CONFIG_MAP) return false;
    const places = [metadata.namespace, metadata.name, spec?.claimRef?.namespace, involvedObject?.namespace];
    return [...places, involvedObject?.name].some((place) => place?.startsWith(this.#prefix));
  }
}

/** Appends a number to a name, because names may coincide once their random parts are replaced. */
function numberedKey(objects: ReadonlyMap<string, unknown>, name: string): string {
  let number = 0;
  while (objects.has(`${name} ${number}`)) number++;
  return `${name} ${number}`;
}

type Slice = KubeObject & { endpoints?: { addresses: string[] }[] | null };

/**
 * Sorts the endpoints, whose order varies upstream, and ignores the generation: it counts writes, each of which may cover several changes.
 */
function withSortedEndpoints(slice: Slice): Slice {
  const endpoints = slice.endpoints?.toSorted((a, b) => (a.addresses[0]! < b.addresses[0]! ? -1 : 1));
  return { ...slice, metadata: { ...slice.metadata, generation: 0 }, ...(endpoints !== undefined && { endpoints }) };
}

/** Sorts by creation time, then by revision and name. */
function byAge({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number {
  const key = ({ creationTimestamp = '', annotations = {}, name = '' }: KubeObject['metadata']) =>
    `${creationTimestamp} ${annotations['deployment.kubernetes.io/revision'] ?? ''} ${name}`;
  return key(a) < key(b) ? -1 : 1;
}

/** Returns an object or a field without ignored fields, and with generated values replaced. */
function masked(value: unknown, names: GeneratedNames, key = ''): unknown {
  if (typeof value === 'string') {
    if (MASKED_FIELDS.has(key)) return 'CONTENT';
    if (TIME.test(value)) return 'TIME';
    return /^10\.\d+\.\d+\.\d+$/.test(value) ? 'ADDRESS' : names.replaceIn(value);
  }
  // kube-apiserver does not store empty lists
  if (Array.isArray(value)) return value.length === 0 ? null : value.map((one) => masked(one, names));
  if (!isRecord(value)) return value;
  const shown = Object.entries(value)
    .filter(([field]) => !IGNORED_FIELDS.has(field))
    .map(([field, one]) => [names.replaceIn(field), masked(one, names, field)] as const)
    .filter(([field, one]) => field !== 'annotations' || Object.keys(one as object).length > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(shown);
}
