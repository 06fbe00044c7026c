import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '@podwright/base';
import {
  CONFIG_MIRROR_ANNOTATION,
  CONFIG_SEEN_ANNOTATION,
  CONFIG_SOURCE_ANNOTATION,
  type KubeObject,
  namespacedName,
  type Pod,
  type PodUpdate,
} from '@podwright/kube-api';
import type { InformerChange } from '@podwright/kube-client';
import { decodeApiPod } from './decode-api-pod.ts';

/** Receives the mirror pods that the API server has for this node. */
export type MirrorListener = { set(mirror: Pod): void; delete(mirror: Pod): void };

export type ApiPodListOptions = {
  onUpdate: (update: PodUpdate) => void;
  mirrors: MirrorListener;
  logger: Logger;
};

/** Annotations that only kubelets set. The kubelet ignores changes to them. */
const LOCAL_ANNOTATIONS = new Set([CONFIG_SOURCE_ANNOTATION, CONFIG_MIRROR_ANNOTATION, CONFIG_SEEN_ANNOTATION]);

type Operation = 'UPDATE' | 'DELETE' | 'RECONCILE';

/** Tracks the API server's pods that are bound to this node and converts changes to them into pod updates (pkg/kubelet/config). */
export class ApiPodList {
  readonly #options: ApiPodListOptions;
  readonly #pods = new Map<string, Pod>();
  readonly #uidByName = new Map<string, string>();

  constructor(options: ApiPodListOptions) {
    this.#options = options;
  }

  /** Emits the API server's pods as a single ADD update, even if there are none. */
  begin(objects: KubeObject[]): void {
    const pods: Pod[] = [];
    const refusals: NonNullable<PodUpdate['refusals']> & Map<string, { reason: string; message: string }> = new Map();
    for (const object of objects) {
      const decoded = this.#decode(object);
      if (decoded === undefined) continue;
      this.#store(decoded.pod);
      if (isMirror(decoded.pod)) this.#options.mirrors.set(decoded.pod);
      else pods.push(decoded.pod);
      if (decoded.refusal !== undefined) refusals.set(decoded.pod.metadata.uid, decoded.refusal);
    }
    this.#options.onUpdate({ operation: 'ADD', source: 'api', pods, refusals });
  }

  change({ type, object }: InformerChange<KubeObject>): void {
    if (type === 'DELETED') return this.#remove(object.metadata.uid);
    const decoded = this.#decode(object);
    if (decoded === undefined) return;
    const { refusal } = decoded;
    const { uid } = decoded.pod.metadata;
    const known = this.#pods.get(uid);
    // an unsupported change must not stop a running pod, so keep the last supported spec
    const pod = refusal && known ? { ...decoded.pod, spec: known.spec } : decoded.pod;
    const namesake = this.#uidByName.get(namespacedName(pod));
    if (namesake !== undefined && namesake !== uid) this.#remove(namesake); // its deletion was missed
    const before = this.#pods.get(uid);
    this.#store(pod);
    if (isMirror(pod)) return this.#options.mirrors.set(pod);
    const report = (operation: PodUpdate['operation']) =>
      this.#options.onUpdate({
        ...{ operation, source: 'api', pods: [pod] },
        ...(refusal && { refusals: new Map([[uid, refusal]]) }),
      });
    const operation = before === undefined ? 'ADD' : operationOf(before, pod);
    if (operation !== undefined) report(operation);
  }

  #decode(object: KubeObject) {
    const seen = this.#pods.get(object.metadata?.uid ?? '')?.metadata.annotations?.[CONFIG_SEEN_ANNOTATION];
    const decoded = decodeApiPod(object, Date.now());
    if (decoded.kind === 'unusable') {
      this.#options.logger.error({ why: decoded.why }, 'a pod of the API server is skipped');
      return undefined;
    }
    if (seen !== undefined) decoded.pod.metadata.annotations![CONFIG_SEEN_ANNOTATION] = seen;
    return decoded;
  }

  #store(pod: Pod): void {
    this.#pods.set(pod.metadata.uid, pod);
    this.#uidByName.set(namespacedName(pod), pod.metadata.uid);
  }

  #remove(uid: string | undefined): void {
    const pod = this.#pods.get(uid ?? '');
    if (pod === undefined) return;
    this.#pods.delete(pod.metadata.uid);
    if (this.#uidByName.get(namespacedName(pod)) === uid) this.#uidByName.delete(namespacedName(pod));
    if (isMirror(pod)) this.#options.mirrors.delete(pod);
    else this.#options.onUpdate({ operation: 'REMOVE', source: 'api', pods: [pod] });
  }
}

function isMirror({ metadata }: Pod): boolean {
  return metadata.annotations?.[CONFIG_MIRROR_ANNOTATION] !== undefined;
}

/**
 * Returns the operation for a change to a pod that the kubelet already has, or `undefined` if the change does not affect the kubelet. Pure.
 */
export function operationOf(before: Pod, after: Pod): Operation | undefined {
  if (!isDeepStrictEqual(wanted(before), wanted(after)))
    return after.metadata.deletionTimestamp === undefined ? 'UPDATE' : 'DELETE';
  return isDeepStrictEqual(before.status, after.status) ? undefined : 'RECONCILE';
}

function wanted({ metadata, spec }: Pod) {
  const { labels = {}, annotations = {}, deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  const own = Object.entries(annotations).filter(([key]) => !LOCAL_ANNOTATIONS.has(key));
  return { spec, labels, annotations: Object.fromEntries(own), deletionTimestamp, deletionGracePeriodSeconds };
}
