import { isRecord, PodwrightError } from '@podwright/base';
import type { KubeMetadata, KubeObject, Resource } from '@podwright/kube-api';
import { ApiStatusError } from './api-status-error.ts';
import type {
  CallOptions,
  DeleteOptions,
  KubeClient,
  ListOf,
  ObjectKey,
  PatchType,
  Selection,
  WatchEvent,
  WatchOptions,
} from './kube-client.ts';

type Verb = 'get' | 'list' | 'create' | 'update' | 'patch' | 'delete' | 'deleteCollection' | 'getText' | 'watch';

/** A recorded call. `path` is set only for `getText`. */
export type FakeCall = {
  verb: Verb;
  /** The plural resource name, such as `pods`; '' for `getText`. */
  plural: string;
  subresource?: string;
  key?: ObjectKey;
  selection?: Selection & { resourceVersion?: string; sendInitialEvents?: boolean; limit?: number; continue?: string };
  body?: unknown;
  patchType?: PatchType;
  how?: DeleteOptions;
  path?: string;
};

/** Matches calls that have all of the given values. */
export type CallMatch = Partial<Pick<FakeCall, 'verb' | 'plural' | 'subresource'>> & { name?: string };

/** The result of a scripted call: an object or text, an error to reject with, or a function that computes the result from the call. */
export type FakeAnswer = object | string | Error | ((call: FakeCall) => unknown);

/** An open watch. */
export type FakeWatch = {
  readonly resource: Resource;
  readonly options: WatchOptions;
  push(event: WatchEvent<KubeObject>): void;
  /** Ends the watch as a server would, or with an error. */
  end(error?: Error): void;
};

/** Returns an error like the API server's. */
export function refusal(code: number, reason: string, message: string = reason): ApiStatusError {
  return new ApiStatusError('fake call', { code, reason, message });
}

/**
 * An in-memory API server for unit tests. It stores objects, assigns resource versions, supports equality in field selectors, records calls
 * and returns scripted responses. It does not validate objects. Merge patches are applied key by key; JSON patches are only recorded.
 */
export class FakeKubeClient implements KubeClient {
  readonly calls: FakeCall[] = [];
  readonly watches = new Set<FakeWatch>();
  reconnects = 0;
  #version = 100;
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  readonly #scripts: { match: CallMatch; answers: FakeAnswer[] }[] = [];
  readonly #waiting = new Set<() => void>();
  /** Past events, for watches that start at an older resource version. */
  readonly #history: { resource: Resource; event: WatchEvent<KubeObject> & { object: KubeObject } }[] = [];

  /**
   * Scripts the results of the next calls that match, one result per call; after that, calls behave normally again. Watches can only be
   * scripted to fail.
   */
  script(match: CallMatch, ...answers: FakeAnswer[]): void {
    this.#scripts.push({ match, answers });
  }

  /** Stores an object as if written by another client, and sends the event to open watches. Returns the stored object. */
  put<T extends KubeObject>(resource: Resource, object: T): T {
    const key = keyOf(object.metadata);
    const existing = this.#all(resource).get(key);
    const uid = object.metadata.uid ?? existing?.metadata.uid ?? `uid-${++this.#version}`;
    const stored = { ...object, metadata: { ...object.metadata, uid, resourceVersion: String(++this.#version) } };
    this.#all(resource).set(key, stored);
    this.#publish(resource, { type: existing === undefined ? 'ADDED' : 'MODIFIED', object: stored });
    return stored;
  }

  /** Deletes an object as if another client had done so. */
  remove(resource: Resource, key: ObjectKey): void {
    const existing = this.#all(resource).get(keyOf(key));
    if (existing === undefined) return;
    this.#all(resource).delete(keyOf(key));
    const metadata = { ...existing.metadata, resourceVersion: String(++this.#version) };
    this.#publish(resource, { type: 'DELETED', object: { ...existing, metadata } });
  }

  stored<T extends KubeObject>(resource: Resource, key: ObjectKey): T | undefined {
    return this.#all(resource).get(keyOf(key)) as T | undefined;
  }

  callsOf(match: CallMatch): FakeCall[] {
    return this.calls.filter((call) => matches(call, match));
  }

  /** Waits for the `count`-th matching call and returns it. Rejects after 30 seconds. */
  async waitForCalls(match: CallMatch, count = 1): Promise<FakeCall> {
    const expired = AbortSignal.timeout(30_000);
    for (;;) {
      const made = this.callsOf(match);
      if (made.length >= count) return made[count - 1]!;
      if (expired.aborted) throw new Error(`${made.length} of ${count} calls ${JSON.stringify(match)}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 1000);
        this.#waiting.add(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  get<T extends KubeObject>(resource: Resource, key: ObjectKey): Promise<T> {
    return this.#call({ verb: 'get', plural: resource.plural, key }, () => this.#existing(resource, key)) as Promise<T>;
  }

  list<T extends KubeObject>(resource: Resource, selection: FakeCall['selection'] & object): Promise<ListOf<T>> {
    return this.#call({ verb: 'list', plural: resource.plural, selection }, () => ({
      metadata: { resourceVersion: String(this.#version) },
      items: this.#selected(resource, selection),
    })) as Promise<ListOf<T>>;
  }

  create<T extends KubeObject>(
    resource: Resource,
    object: KubeObject,
    { subresource }: CallOptions & { subresource?: string } = {},
  ): Promise<T> {
    const { metadata } = object;
    const call: FakeCall = {
      verb: 'create',
      plural: resource.plural,
      subresource,
      key: keyOfObject(object),
      body: object,
    };
    return this.#call(call, () => {
      const isStored =
        subresource === undefined && (metadata?.name !== undefined || metadata?.generateName !== undefined);
      if (!isStored) return object;
      const name = metadata.name ?? `${metadata.generateName}${++this.#version}`;
      if (this.#all(resource).has(keyOf({ ...metadata, name })))
        throw refusal(409, 'AlreadyExists', `${resource.plural} "${name}" already exists`);
      return this.put(resource, { ...object, metadata: { ...metadata, name } });
    }) as Promise<T>;
  }

  update<T extends KubeObject>(
    resource: Resource,
    object: KubeObject,
    { subresource }: CallOptions & { subresource?: string } = {},
  ): Promise<T> {
    const key = keyOfObject(object);
    const call: FakeCall = { verb: 'update', plural: resource.plural, subresource, key, body: object };
    return this.#call(call, () => {
      this.#checkVersion(resource, key, object.metadata.resourceVersion);
      return this.put(resource, object);
    }) as Promise<T>;
  }

  patch<T extends KubeObject>(
    resource: Resource,
    key: ObjectKey,
    { type, body, subresource }: { type: PatchType; body: unknown; subresource?: string },
  ): Promise<T> {
    const call: FakeCall = { verb: 'patch', plural: resource.plural, subresource, key, body, patchType: type };
    return this.#call(call, () => {
      const existing = this.#existing(resource, key);
      this.#checkVersion(resource, key, (body as Partial<KubeObject>).metadata?.resourceVersion);
      return type === 'json' ? existing : this.put(resource, merged(existing, body) as KubeObject);
    }) as Promise<T>;
  }

  async patchForMetadata(...asked: Parameters<KubeClient['patch']>): Promise<KubeMetadata> {
    const [resource, key, patch] = asked;
    const { metadata } = await this.patch(resource, key, patch);
    return metadata;
  }

  #checkVersion(resource: Resource, key: ObjectKey, expected: string | undefined): void {
    const { resourceVersion } = this.#existing(resource, key).metadata;
    if (expected === undefined || expected === resourceVersion) return;
    throw refusal(409, 'Conflict', `${resource.plural} "${key.name}": the object has been modified`);
  }

  async delete(resource: Resource, key: ObjectKey, how?: DeleteOptions): Promise<void> {
    await this.#call({ verb: 'delete', plural: resource.plural, key, how }, () => {
      const { uid } = this.#existing(resource, key).metadata;
      if (how?.preconditions?.uid !== undefined && how.preconditions.uid !== uid)
        throw refusal(409, 'Conflict', `the UID in the precondition is not ${uid}`);
      this.remove(resource, key);
    });
  }

  async deleteCollection(resource: Resource, selection: Selection): Promise<void> {
    await this.#call({ verb: 'deleteCollection', plural: resource.plural, selection }, () => {
      for (const object of this.#selected(resource, selection)) this.remove(resource, keyOfObject(object));
    });
  }

  getText(path: string): Promise<string> {
    return this.#call({ verb: 'getText', plural: '', path }, () => 'ok') as Promise<string>;
  }

  async *watch<T extends KubeObject>(
    resource: Resource,
    options: WatchOptions,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent<T>> {
    const { onOpen, timeoutSeconds: _timeoutSeconds, ...selection } = options;
    await this.#call({ verb: 'watch', plural: resource.plural, selection }, () => undefined);
    if (signal.aborted) return;
    const watch = new OpenWatch(resource, options);
    const end = () => watch.end();
    signal.addEventListener('abort', end, { once: true });
    onOpen?.();
    if (options.sendInitialEvents === true) {
      for (const object of this.#selected(resource, options)) watch.push({ type: 'ADDED', object });
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      watch.push({
        type: 'BOOKMARK',
        object: { metadata: { resourceVersion: String(this.#version), annotations } },
      });
    }
    for (const { resource: of, event } of this.#history) {
      const isLater = Number(event.object.metadata.resourceVersion) > Number(options.resourceVersion ?? Infinity);
      if (isLater && options.sendInitialEvents !== true) this.#offer(watch, of, event);
    }
    this.watches.add(watch);
    try {
      yield* watch.events() as AsyncGenerator<WatchEvent<T>>;
    } finally {
      this.watches.delete(watch);
      signal.removeEventListener('abort', end);
    }
  }

  reconnect(): void {
    this.reconnects++;
    this.close();
  }

  close(): void {
    for (const watch of this.watches) watch.end(new PodwrightError('unavailable', 'the connection was cut'));
  }

  async #call(call: FakeCall, usual: () => unknown): Promise<unknown> {
    this.calls.push(call);
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
    const script = this.#scripts.find(({ match, answers }) => answers.length > 0 && matches(call, match));
    const answer = script?.answers.shift(); // taken before the await: the next call may be made in the meantime
    await Promise.resolve();
    if (answer === undefined) return usual();
    if (answer instanceof Error) throw answer;
    return typeof answer === 'function' ? answer(call) : answer;
  }

  #all({ group, plural }: Resource): Map<string, KubeObject> {
    const key = `${group}/${plural}`;
    const objects = this.#objects.get(key) ?? new Map<string, KubeObject>();
    this.#objects.set(key, objects);
    return objects;
  }

  #existing(resource: Resource, key: ObjectKey): KubeObject {
    const object = this.#all(resource).get(keyOf(key));
    if (object === undefined) throw refusal(404, 'NotFound', `${resource.plural} "${key.name}" not found`);
    return object;
  }

  #selected(resource: Resource, selection: Selection): KubeObject[] {
    return [...this.#all(resource).values()].filter((object) => isSelected(object, selection));
  }

  #publish(resource: Resource, event: WatchEvent<KubeObject> & { object: KubeObject }): void {
    this.#history.push({ resource, event });
    for (const watch of this.watches) this.#offer(watch, resource, event);
  }

  #offer(watch: FakeWatch, resource: Resource, event: WatchEvent<KubeObject> & { object: KubeObject }): void {
    const isOf = watch.resource.plural === resource.plural && watch.resource.group === resource.group;
    if (isOf && isSelected(event.object, watch.options)) watch.push(event);
  }
}

class OpenWatch implements FakeWatch {
  readonly resource: Resource;
  readonly options: WatchOptions;
  readonly #queue: WatchEvent<KubeObject>[] = [];
  #end: { error?: Error } | undefined;
  #wake: () => void = () => undefined;

  constructor(resource: Resource, options: WatchOptions) {
    this.resource = resource;
    this.options = options;
  }

  push(event: WatchEvent<KubeObject>): void {
    this.#queue.push(event);
    this.#wake();
  }

  end(error?: Error): void {
    this.#end ??= { error };
    this.#wake();
  }

  async *events(): AsyncGenerator<WatchEvent<KubeObject>> {
    for (;;) {
      for (let event = this.#queue.shift(); event !== undefined; event = this.#queue.shift()) yield event;
      if (this.#end?.error !== undefined) throw this.#end.error;
      if (this.#end !== undefined) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

function matches(call: FakeCall, { name, ...match }: CallMatch): boolean {
  if (name !== undefined && call.key?.name !== name) return false;
  return Object.entries(match).every(([key, value]) => call[key as keyof FakeCall] === value);
}

function isSelected(object: KubeObject, { namespace, fieldSelector }: Selection): boolean {
  if (namespace !== undefined && object.metadata.namespace !== namespace) return false;
  return (fieldSelector ?? '').split(',').every((term) => {
    const [, path = '', negation = '', wanted = ''] = /^([^=!]*)(!?)={1,2}(.*)$/.exec(term) ?? [];
    if (path === '') return true;
    const value = path.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], object);
    return (String(value ?? '') === wanted) === (negation === '');
  });
}

function merged(existing: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = isRecord(existing) ? { ...existing } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}

function keyOf({ namespace, name }: { namespace?: string; name?: string }): string {
  return `${namespace ?? ''}/${name ?? ''}`;
}

function keyOfObject({ metadata }: KubeObject): ObjectKey {
  return { namespace: metadata?.namespace, name: metadata?.name ?? '' };
}
