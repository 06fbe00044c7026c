import type { Subscription } from '@podwright/base';
import { absentObject, type LocalObjectEvent } from '@podwright/kube-api';
import type { Kubelet } from '@podwright/kubelet';
import type { WatchEvent } from './local-api.ts';
import type { ApiKind, ApiObject, ObjectName, ObjectWatch } from './node-backend.ts';

/** The objects of a kubelet, kind by kind. */
export class NodeObjects {
  readonly #kubelet: Kubelet;

  constructor(kubelet: Kubelet) {
    this.#kubelet = kubelet;
  }

  /** By namespace and name, as an API server lists them; events as they came. */
  list(kind: ApiKind): ApiObject[] {
    if (kind === 'Event') return this.#kubelet.events();
    if (kind === 'Node') return [this.#kubelet.node()];
    return this.#unordered(kind).sort(byName);
  }

  /** An array of its own. */
  #unordered(kind: ApiKind): ApiObject[] {
    if (kind === 'Pod') return this.#kubelet.pods();
    if (kind === 'PersistentVolumeClaim') return this.#kubelet.claims();
    return this.#kubelet.objects.list().filter((object) => object.kind === kind);
  }

  /** Of two pods of one name the one that is not being deleted is meant. */
  find({ kind, namespace, name }: ObjectName<ApiKind>): ApiObject | undefined {
    const named = this.list(kind).filter(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
    return named.find(({ metadata }) => metadata.deletionTimestamp === undefined) ?? named[0];
  }

  /** Whether a manifest has an object of this kind and name. */
  isStaticPod({ kind, namespace, name }: ObjectName<ApiKind>): boolean {
    const objects = this.#kubelet.objects.list();
    return objects.some(
      (object) => object.kind === kind && object.metadata.namespace === namespace && object.metadata.name === name,
    );
  }

  /** Throws `not_found`, with the namespaces that have one of that name. */
  get(object: ObjectName<ApiKind>): ApiObject {
    const found = this.find(object);
    if (found !== undefined) return found;
    throw absentObject(object, this.list(object.kind));
  }

  watch(kind: ApiKind, signal: AbortSignal): ObjectWatch {
    // first the subscription, then the list, and nothing in between: all in one turn of the event loop
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

/** A node changes once: when it is ready. */
async function* nodeChanges(kubelet: Kubelet, signal: AbortSignal): AsyncGenerator<WatchEvent<ApiObject>> {
  const gone = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  const wasReady = kubelet.areSourcesReady;
  await Promise.race([gone, kubelet.sourcesReady.catch(() => gone)]);
  if (!wasReady && !signal.aborted) yield { type: 'MODIFIED', object: kubelet.node() };
  if (!signal.aborted) await gone;
}
