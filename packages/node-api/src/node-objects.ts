import type { Subscription } from '@podwright/base';
import { absentObject, type LocalObjectEvent } from '@podwright/kube-api';
import type { Kubelet } from '@podwright/kubelet';
import type { WatchEvent } from './local-api.ts';
import type { ApiKind, ApiObject, ObjectName, ObjectWatch } from './node-backend.ts';

/** Looks up a kubelet's objects by kind. */
export class NodeObjects {
  readonly #kubelet: Kubelet;

  constructor(kubelet: Kubelet) {
    this.#kubelet = kubelet;
  }

  /** Lists a kind's objects, sorted by namespace and name like the API server's lists; events in order of arrival. */
  list(kind: ApiKind): ApiObject[] {
    if (kind === 'Event') return this.#kubelet.events();
    if (kind === 'Node') return [this.#kubelet.node()];
    return this.#unordered(kind).sort(byName);
  }

  /** Lists objects in a new array, which the caller may sort. */
  #unordered(kind: ApiKind): ApiObject[] {
    if (kind === 'Pod') return this.#kubelet.pods();
    if (kind === 'PersistentVolumeClaim') return this.#kubelet.claims();
    return this.#kubelet.objects.list().filter((object) => object.kind === kind);
  }

  /** Finds an object. If two pods have this name, returns the one that is not being deleted. */
  find({ kind, namespace, name }: ObjectName<ApiKind>): ApiObject | undefined {
    const named = this.list(kind).filter(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
    return named.find(({ metadata }) => metadata.deletionTimestamp === undefined) ?? named[0];
  }

  /** Whether a manifest has an object of this kind and name. */
  isStaticObject({ kind, namespace, name }: ObjectName<ApiKind>): boolean {
    const objects = this.#kubelet.objects.list();
    return objects.some(
      (object) => object.kind === kind && object.metadata.namespace === namespace && object.metadata.name === name,
    );
  }

  /** Returns an object. Throws `not_found`, naming the namespaces that have an object with that name. */
  get(object: ObjectName<ApiKind>): ApiObject {
    const found = this.find(object);
    if (found !== undefined) return found;
    throw absentObject(object, this.list(object.kind));
  }

  watch(kind: ApiKind, signal: AbortSignal): ObjectWatch {
    // subscribe and list in the same event loop turn, so that no change is missed or reported twice
    const changes = this.#changes(kind, signal);
    return { present: this.list(kind), changes };
  }

  #changes(kind: ApiKind, signal: AbortSignal): AsyncIterable<WatchEvent<ApiObject>> {
    const kubelet = this.#kubelet;
    if (kind === 'Pod') return mapped(kubelet.watch(signal), ({ type, pod }) => ({ type, object: pod }));
    if (kind === 'Event') {
      return mapped(kubelet.watchEvents(signal), (object) => ({
        type: object.count > 1 ? 'MODIFIED' : 'ADDED',
        object,
      }));
    }
    if (kind === 'Node') return nodeChanges(kubelet, signal);
    return ofKind(kubelet.objects.subscribe(signal), kind);
  }
}

function byName({ metadata: a }: ApiObject, { metadata: b }: ApiObject): number {
  const [own, other] = [`${a.namespace}/${a.name}`, `${b.namespace}/${b.name}`];
  return own < other ? -1 : own > other ? 1 : 0;
}

async function* mapped<T>(
  source: Subscription<T>,
  toEvent: (value: T) => WatchEvent<ApiObject>,
): AsyncGenerator<WatchEvent<ApiObject>> {
  for await (const value of source) yield toEvent(value);
}

async function* ofKind(source: Subscription<LocalObjectEvent>, kind: ApiKind): AsyncGenerator<WatchEvent<ApiObject>> {
  for await (const event of source) if (event.object.kind === kind) yield event;
}

/** Yields the Node object's only change: when the node becomes ready. */
async function* nodeChanges(kubelet: Kubelet, signal: AbortSignal): AsyncGenerator<WatchEvent<ApiObject>> {
  const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  const wasReady = kubelet.areSourcesReady;
  await Promise.race([aborted, kubelet.sourcesReady.catch(() => aborted)]);
  if (!wasReady && !signal.aborted) yield { type: 'MODIFIED', object: kubelet.node() };
  if (!signal.aborted) await aborted;
}
