/** An in-memory API server for simulations, with finalizers, graceful deletion, conflicts, delayed watches and injected failures. */
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '@podwright/base';
import { formatTime, type KubeObject, type Resource } from '@podwright/kube-api';
import type { DeleteOptions, Informer, InformerChange, Informers, KubeClient, ObjectKey } from '@podwright/kube-client';
import { refusal } from '@podwright/kube-client/testing';
import { placeText } from './object-place.ts';
import { SharedObjects } from './shared-objects.ts';

export type SimObject = KubeObject & { spec?: unknown; status?: unknown };
type Change = InformerChange<KubeObject> & { version: number };
type WriteCall = { verb: 'create' | 'update' | 'patch' | 'delete'; resource: Resource; name: string };

/** Seeded pseudo-random numbers (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  below(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  }

  pick<T>(items: readonly T[]): T | undefined {
    return items[this.below(Math.max(1, items.length))];
  }
}

export class SimServer {
  nowMs = Date.parse('2026-01-01T00:00:00Z');
  readonly random: Random;
  /** Called before each write. An error thrown here rejects the write. */
  beforeWrite: (call: WriteCall) => void = () => undefined;
  /** Called after each successful write. The caller receives any error thrown here instead of the response. */
  afterWrite: (call: WriteCall) => void = () => undefined;
  /** Called after each change to a stored object, for checking invariants. */
  onChange: () => void = () => undefined;
  writes = 0;
  #version = 100;
  readonly #objects = new Map<string, Map<string, SimObject>>();
  readonly #changes = new Map<string, Change[]>();

  constructor(seed = 1) {
    this.random = new Random(seed);
  }

  list<T extends KubeObject>(resource: Resource): T[] {
    return [...this.#of(resource).values()] as unknown as T[];
  }

  get<T extends KubeObject>(resource: Resource, place: ObjectKey): T | undefined {
    return this.#of(resource).get(placeText(place)) as unknown as T | undefined;
  }

  /** Stores an object in the fake API server, as another client would. */
  put<T extends KubeObject>(resource: Resource, object: T): T {
    const { metadata } = object;
    const known = this.#of(resource).get(placeText({ namespace: metadata.namespace, name: metadata.name! }));
    const stored = structuredClone(object) as SimObject;
    const generation = known?.metadata.generation ?? 0;
    const isSameSpec = known !== undefined && isDeepStrictEqual(known.spec, stored.spec);
    stored.metadata.uid ??= known?.metadata.uid ?? `uid-${this.#version}`;
    stored.metadata.creationTimestamp ??= known?.metadata.creationTimestamp ?? formatTime(this.nowMs);
    stored.metadata.generation = isSameSpec ? generation : generation + 1;
    return this.#store(resource, stored, known === undefined ? 'ADDED' : 'MODIFIED') as unknown as T;
  }

  /** Changes an object stored in the fake API server, as another client would. */
  change<T extends KubeObject>(resource: Resource, place: ObjectKey, edit: (object: T) => void): void {
    const object = structuredClone(this.#existing(resource, place)) as unknown as T;
    edit(object);
    this.put(resource, object);
  }

  /** Removes an object without a grace period, as a kubelet removes a stopped pod. Only marks it for deletion if it has finalizers. */
  end(resource: Resource, place: ObjectKey): void {
    const object = this.#of(resource).get(placeText(place));
    if (object === undefined) return;
    const hasFinalizers = (object.metadata.finalizers ?? []).length > 0;
    if (!hasFinalizers) return this.#remove(resource, object);
    const deletionTimestamp = object.metadata.deletionTimestamp ?? formatTime(this.nowMs);
    const metadata = { ...object.metadata, deletionTimestamp, deletionGracePeriodSeconds: 0 };
    this.#store(resource, { ...object, metadata }, 'MODIFIED');
  }

  /**
   * Deletes an object as the API server does: removes it, or only marks it for deletion if it has finalizers or is a live pod on a node,
   * which the kubelet has to stop first.
   */
  delete(resource: Resource, place: ObjectKey, { preconditions }: DeleteOptions = {}): void {
    const object = this.#existing(resource, place);
    if (preconditions?.uid !== undefined && preconditions.uid !== object.metadata.uid)
      throw refusal(409, 'Conflict', 'the UID in the precondition differs');
    if (object.metadata.deletionTimestamp !== undefined) return;
    const isOnNode = resource.kind === 'Pod' && isLive(object);
    if (!isOnNode) return this.end(resource, place);
    const deletionTimestamp = formatTime(this.nowMs + 30_000);
    const metadata = { ...object.metadata, deletionTimestamp, deletionGracePeriodSeconds: 30 };
    this.#store(resource, { ...object, metadata }, 'MODIFIED');
  }

  /**
   * Returns the client and caches of a new controller process. The caches start with the current state of the server, and after that
   * receive only the changes passed on by `deliver`.
   */
  connect(): { client: KubeClient; objects: SharedObjects; deliver: (atMost?: number) => boolean } {
    const open: SimInformer[] = [];
    const start = ({ resource, onChange, onProgress }: Parameters<Informers['start']>[0]) => {
      const informer = new SimInformer(this.#changesOf(resource), { onChange, onProgress });
      open.push(informer);
      for (const object of this.list(resource)) informer.report({ type: 'ADDED', object, version: this.#version });
      onProgress?.(String(this.#version));
      return informer;
    };
    const objects = new SharedObjects({ start } as unknown as Informers);
    const deliver = (atMost = Number.POSITIVE_INFINITY) => {
      const delivered = open.map((informer) => informer.deliver(atMost, String(this.#version)));
      return delivered.some(Boolean);
    };
    return { client: this.#client(), objects, deliver };
  }

  #client(): KubeClient {
    const write = async <T>(call: WriteCall, act: () => unknown): Promise<T> => {
      await Promise.resolve();
      this.beforeWrite(call);
      const answer = act();
      this.writes++;
      this.afterWrite(call);
      return structuredClone(answer) as T;
    };
    const client: Partial<KubeClient> = {
      get: async <T extends KubeObject>(resource: Resource, place: ObjectKey) =>
        structuredClone(this.#existing(resource, place)) as unknown as T,
      create: (resource, object) => {
        const name = object.metadata.name ?? object.metadata.generateName ?? '';
        return write({ verb: 'create', resource, name }, () => this.#create(resource, object));
      },
      update: (resource, object, options) => {
        const name = object.metadata.name ?? '';
        return write({ verb: 'update', resource, name }, () => this.#update(resource, object, options?.subresource));
      },
      patch: (resource, place, { body }) =>
        write({ verb: 'patch', resource, name: place.name }, () => this.#patch(resource, place, body)),
      delete: (resource, place, how) =>
        write({ verb: 'delete', resource, name: place.name }, () => this.delete(resource, place, how)),
    };
    return client as KubeClient;
  }

  #create(resource: Resource, object: KubeObject): SimObject {
    const { metadata } = object;
    const suffix = Array.from({ length: 5 }, () => this.random.below(36).toString(36)).join('');
    const name = metadata.name ?? `${metadata.generateName}${suffix}`;
    if (this.#of(resource).has(placeText({ namespace: metadata.namespace, name })))
      throw refusal(409, 'AlreadyExists', `${resource.plural} "${name}" already exists`);
    const status = resource.kind === 'Pod' ? { phase: 'Pending' } : undefined;
    const created = { ...object, status, metadata: { ...metadata, name } };
    return this.put(resource, created as SimObject) as SimObject;
  }

  #update(resource: Resource, object: KubeObject, subresource?: string): SimObject {
    const place = { namespace: object.metadata.namespace, name: object.metadata.name! };
    const known = this.#existing(resource, place);
    if (object.metadata.resourceVersion !== known.metadata.resourceVersion)
      throw refusal(409, 'Conflict', `${resource.plural} "${place.name}": the object has been modified`);
    const { status } = object as SimObject;
    if (subresource === 'status') {
      const metadata = { ...known.metadata, annotations: object.metadata.annotations };
      return this.put(resource, { ...known, metadata, status } as SimObject) as SimObject;
    }
    return this.put(resource, { ...object, status: known.status } as SimObject) as SimObject;
  }

  #patch(resource: Resource, place: ObjectKey, body: unknown): SimObject {
    const known = this.#existing(resource, place);
    const { metadata } = body as Partial<KubeObject>;
    if (metadata?.uid !== undefined && metadata.uid !== known.metadata.uid)
      throw refusal(409, 'Conflict', 'the UID in the precondition differs');
    const patched = merged(known, body) as SimObject;
    const isEnding = patched.metadata.deletionTimestamp !== undefined && patched.metadata.finalizers === undefined;
    if (!isEnding || isLive(patched)) return this.put(resource, patched) as SimObject;
    this.#remove(resource, patched);
    return patched;
  }

  #store(resource: Resource, object: SimObject, type: 'ADDED' | 'MODIFIED'): SimObject {
    const version = ++this.#version;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    this.#of(resource).set(placeText({ namespace: stored.metadata.namespace, name: stored.metadata.name! }), stored);
    this.#changesOf(resource).push({ type, object: stored, version });
    this.onChange();
    return stored;
  }

  #remove(resource: Resource, object: SimObject): void {
    const version = ++this.#version;
    object.metadata = { ...object.metadata, resourceVersion: String(version) };
    this.#of(resource).delete(placeText({ namespace: object.metadata.namespace, name: object.metadata.name! }));
    this.#changesOf(resource).push({ type: 'DELETED', object, version });
    this.onChange();
  }

  #existing(resource: Resource, place: ObjectKey): SimObject {
    const object = this.#of(resource).get(placeText(place));
    if (object === undefined) throw refusal(404, 'NotFound', `${resource.plural} "${place.name}" not found`);
    return object;
  }

  #of({ plural }: Resource): Map<string, SimObject> {
    return inserted(this.#objects, plural, new Map());
  }

  #changesOf({ plural }: Resource): Change[] {
    return inserted(this.#changes, plural, []);
  }
}

/**
 * An informer of the simulated server. Reports changes only when the simulation calls `deliver`, beginning with the first change after the
 * informer's creation.
 */
class SimInformer implements Informer<KubeObject> {
  readonly synced = Promise.resolve();
  readonly #known = new Map<string, KubeObject>();
  readonly #changes: readonly Change[];
  readonly #listeners: Pick<Parameters<Informers['start']>[0], 'onChange' | 'onProgress'>;
  #next: number;

  constructor(
    changes: readonly Change[],
    listeners: Pick<Parameters<Informers['start']>[0], 'onChange' | 'onProgress'>,
  ) {
    this.#changes = changes;
    this.#listeners = listeners;
    this.#next = changes.length;
  }

  deliver(atMost: number, present: string): boolean {
    const end = Math.min(this.#changes.length, this.#next + atMost);
    const hasChanges = this.#next < end;
    for (; this.#next < end; this.#next++) {
      const change = this.#changes[this.#next]!;
      this.report(change);
      this.#listeners.onProgress?.(String(change.version));
    }
    if (this.#next === this.#changes.length) this.#listeners.onProgress?.(present);
    return hasChanges;
  }

  report({ type, object }: Change): void {
    const key = placeText({ namespace: object.metadata.namespace, name: object.metadata.name! });
    if (type === 'DELETED') this.#known.delete(key);
    else this.#known.set(key, object);
    this.#listeners.onChange?.({ type, object: structuredClone(object) as never });
  }

  hasSynced = () => true;
  get = (place: { namespace?: string; name: string }) => this.#known.get(placeText(place));
  list = () => [...this.#known.values()];
  problem = () => undefined;
  reread = () => undefined;
  stop = () => undefined;
}

/** Whether a pod is assigned to a node and is not in a terminal phase. */
function isLive({ spec, status }: SimObject): boolean {
  const { nodeName } = (spec ?? {}) as { nodeName?: string };
  const { phase } = (status ?? {}) as { phase?: string };
  return nodeName !== undefined && phase !== 'Succeeded' && phase !== 'Failed';
}

/** Applies a strategic merge patch. Supports only what the controllers use. */
function merged(known: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = isRecord(known) ? { ...known } : {};
  for (const [key, value] of Object.entries(patch)) {
    const removedFrom = key.replace('$deleteFromPrimitiveList/', '');
    if (removedFrom !== key) {
      const left = ((result[removedFrom] ?? []) as string[]).filter((one) => !(value as string[]).includes(one));
      result[removedFrom] = left.length === 0 ? undefined : left;
    } else if (value === null) delete result[key];
    else if (key === 'finalizers')
      result[key] = [...new Set([...((result[key] ?? []) as string[]), ...(value as string[])])];
    else if (key === 'ownerReferences')
      result[key] = mergedOwners(result[key] as Owner[] | undefined, value as Owner[]);
    else result[key] = merged(result[key], value);
  }
  return result;
}

type Owner = { uid: string; $patch?: string };

function mergedOwners(known: readonly Owner[] = [], patch: readonly Owner[]): Owner[] {
  const others = known.filter(({ uid }) => patch.every((one) => one.uid !== uid));
  return [...others, ...patch.filter(({ $patch }) => $patch !== 'delete')];
}

function inserted<V>(map: Map<string, V>, key: string, fresh: V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  map.set(key, fresh);
  return fresh;
}
