import { errorMessage, PodwrightError } from '@podwright/base';
import {
  type KubeObject,
  type LocalObjectChange,
  type LocalObjectOf,
  localObjectKey,
  type Pod,
  podReferences,
} from '@podwright/kube-api';
import { CONFIG_MAPS, SECRETS } from '@podwright/kube-client';
import { decodeObject } from './decode-object.ts';
import { OBJECT_READ_WAIT_MS } from './limits.ts';
import type { FeedObject, ObjectFeed } from './object-feeds.ts';
import { within } from './within.ts';

export type CachedKind = 'ConfigMap' | 'Secret';

type Content =
  | { state: 'unread' }
  | { state: 'absent' }
  | { state: 'present'; object: LocalObjectOf<CachedKind>; version: string }
  | { state: 'malformed'; problem: string; version: string };

type Entry = {
  kind: CachedKind;
  namespace: string;
  name: string;
  /** UIDs of the pods that reference the object. */
  users: Set<string>;
  /** UIDs of pods for which `ready` returned before the object had been read. */
  missedBy: Set<string>;
  content: Content;
  feed: ObjectFeed;
};

/**
 * The API server's ConfigMaps and Secrets referenced by pods. Each object has its own feed, from its first use by a pod until the last such
 * pod is removed. Cached objects remain available during API server outages.
 */
export class ObjectCache {
  readonly #feed: FeedObject;
  readonly #onChange: (change: LocalObjectChange) => void;
  readonly #entries = new Map<string, Entry>();
  /** Keys of the objects referenced by each pod, by pod UID. */
  readonly #references = new Map<string, Set<string>>();

  /** `onChange` is called when an object used by pods changes, and after the first read if any pods had to go on without the object. */
  constructor({ feed, onChange }: { feed: FeedObject; onChange: (change: LocalObjectChange) => void }) {
    this.#feed = feed;
    this.#onChange = onChange;
  }

  /** Starts the feeds of the objects referenced by the pod, and waits up to a second for those not read yet. Idempotent. */
  async ready(pod: Pod, signal: AbortSignal): Promise<void> {
    const { uid } = pod.metadata;
    const entries = this.#register(pod);
    await within(Promise.all(entries.map(({ feed }) => feed.refresh())), OBJECT_READ_WAIT_MS, signal);
    for (const { content, missedBy } of entries) if (content.state === 'unread') missedBy.add(uid);
  }

  /** Drops a pod's references. Must be called when the pod is removed. */
  release(podUid: string): void {
    for (const key of this.#references.get(podUid) ?? []) this.#dropUser(key, podUid);
    this.#references.delete(podUid);
  }

  /**
   * Returns a cached object; `undefined` if it does not exist. Throws `unavailable`, with upstream's message and the cause, if it has not
   * been read yet.
   */
  get<K extends CachedKind>(kind: K, namespace: string, name: string): LocalObjectOf<K> | undefined {
    const entry = this.#entries.get(localObjectKey(kind, namespace, name));
    if (entry === undefined)
      throw new PodwrightError('failed_precondition', `object "${namespace}"/"${name}" not registered`);
    const { content, feed } = entry;
    if (content.state === 'present') return content.object as LocalObjectOf<K>;
    if (content.state === 'malformed') throw new PodwrightError('failed_precondition', content.problem);
    if (content.state === 'absent') return undefined;
    const problem = feed.problem();
    throw new PodwrightError(
      'unavailable',
      `failed to sync ${kind.toLowerCase()} cache: timed out waiting for the condition${problem === undefined ? '' : `: ${problem}`}`,
    );
  }

  stop(): void {
    for (const { feed } of this.#entries.values()) feed.stop();
    this.#entries.clear();
    this.#references.clear();
  }

  #register(pod: Pod): Entry[] {
    const { uid, namespace } = pod.metadata;
    const wanted = new Map(
      namesIn(pod).map(({ kind, name }) => [localObjectKey(kind, namespace, name), { kind, namespace, name }]),
    );
    const entries = [...wanted].map(([key, place]) => {
      const entry = this.#entries.get(key) ?? this.#follow(key, place);
      entry.users.add(uid);
      return entry;
    });
    for (const key of this.#references.get(uid) ?? []) if (!wanted.has(key)) this.#dropUser(key, uid);
    this.#references.set(uid, new Set(wanted.keys()));
    return entries;
  }

  #follow(key: string, place: { kind: CachedKind; namespace: string; name: string }): Entry {
    const resource = place.kind === 'ConfigMap' ? CONFIG_MAPS : SECRETS;
    const feed = this.#feed({ ...place, resource }, (object) => this.#read(entry, object));
    const entry: Entry = { ...place, users: new Set(), missedBy: new Set(), content: { state: 'unread' }, feed };
    this.#entries.set(key, entry);
    return entry;
  }

  #read(entry: Entry, object: KubeObject | undefined): void {
    const before = entry.content;
    entry.content = contentOf(entry.kind, object);
    const users = before.state === 'unread' ? entry.missedBy : entry.users;
    entry.missedBy = new Set();
    if (users.size === 0 || versionOf(before) === versionOf(entry.content)) return;
    const { kind, namespace, name } = entry;
    this.#onChange({ kind, namespace, name, users: new Set(users) });
  }

  #dropUser(key: string, podUid: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    entry.users.delete(podUid);
    entry.missedBy.delete(podUid);
    if (entry.users.size > 0) return;
    entry.feed.stop();
    this.#entries.delete(key);
  }
}

/** Returns all ConfigMaps and Secrets referenced by the pod, including image pull secrets. */
function namesIn(pod: Pod): { kind: CachedKind; name: string }[] {
  const pullSecrets = (pod.spec.imagePullSecrets ?? []).map(({ name }) => ({ kind: 'Secret' as const, name }));
  const others = podReferences(pod).flatMap(({ kind, name }) => (kind === 'RuntimeClass' ? [] : [{ kind, name }]));
  return [...pullSecrets, ...others].filter(({ name }) => name !== '' && name !== undefined);
}

function contentOf(kind: CachedKind, object: KubeObject | undefined): Content {
  if (object === undefined) return { state: 'absent' };
  const version = `${object.metadata.uid} ${object.metadata.resourceVersion}`;
  try {
    return { state: 'present', object: decodeObject(kind, object), version };
  } catch (error) {
    return { state: 'malformed', problem: errorMessage(error), version };
  }
}

const versionOf = (content: Content): string => ('version' in content ? content.version : content.state);
