/** The sizes of the pods' controllers. */
import type { KubeObject, OwnerReference, Pod, Resource } from '@podwright/kube-api';
import { isApiStatus } from '@podwright/kube-client';
import type { ControllerParts } from '../framework/controller.ts';
import { findKind, groupPath } from '../framework/find-kind.ts';
import { DEPLOYMENTS } from '../objects/deployment.ts';
import { REPLICA_SETS, REPLICATION_CONTROLLERS } from '../objects/replica-set.ts';
import { STATEFUL_SETS } from '../objects/stateful-set.ts';
import { controllerOf, isOfKind } from '../pods/controller-reference.ts';

type Sized = KubeObject & { spec?: { replicas?: number } };
type Scale = { uid: string; replicas: number };

/** Kinds whose objects are read from the cache. */
const KNOWN: readonly Resource[] = [DEPLOYMENTS, REPLICA_SETS, REPLICATION_CONTROLLERS, STATEFUL_SETS];

export class ExpectedScale {
  readonly #parts: Pick<ControllerParts, 'client' | 'objects' | 'signal'>;

  constructor(parts: Pick<ControllerParts, 'client' | 'objects' | 'signal'>) {
    this.#parts = parts;
  }

  /** Returns the caches of all controller kinds in `KNOWN`. */
  get caches() {
    return KNOWN.map((resource) => this.#parts.objects.of<Sized>(resource));
  }

  /** Calls the listener with the namespace of each controller that is added, removed or resized. */
  onChange(listener: (namespace: string) => void): void {
    for (const cache of this.caches) {
      cache.onChange(({ type, object, before }) => {
        const isSame = type === 'MODIFIED' && before?.spec?.replicas === object.spec?.replicas;
        if (!isSame) listener(object.metadata.namespace ?? '');
      });
    }
  }

  /**
   * Returns the sum of the sizes of the pods' controllers, and the names of pods without a controller. Rejects if the size of a controller
   * is unknown.
   */
  async of(pods: readonly Pod[]): Promise<{ scale: number; unmanaged: string[] }> {
    const unmanaged: string[] = [];
    const seen = new Set<string>();
    const scales = new Map<string, number>();
    for (const pod of pods) {
      const controller = controllerOf(pod);
      if (controller === undefined) unmanaged.push(pod.metadata.name);
      if (controller === undefined || seen.has(controller.uid)) continue;
      seen.add(controller.uid);
      const scale = this.#known(controller, pod.metadata.namespace) ?? (await this.#asked(controller, pod));
      if (scale === undefined) throw new Error(`found no controllers for pod "${pod.metadata.name}"`);
      scales.set(scale.uid, scale.replicas);
    }
    return { scale: [...scales.values()].reduce((sum, one) => sum + one, 0), unmanaged };
  }

  /**
   * Returns the scale of a cached controller. For a ReplicaSet of a Deployment, it is the scale of the Deployment, even during a rollout.
   */
  #known(controller: OwnerReference, namespace: string): Scale | undefined {
    const resource = KNOWN.find((one) => isOfKind(controller, one));
    const object = resource && this.#parts.objects.of<Sized>(resource).get({ namespace, name: controller.name });
    if (object === undefined || object.metadata.uid !== controller.uid) return undefined;
    const above = resource === REPLICA_SETS ? controllerOf(object) : undefined;
    if (above !== undefined && isOfKind(above, DEPLOYMENTS)) return this.#known(above, namespace);
    return { uid: controller.uid, replicas: object.spec?.replicas ?? 1 };
  }

  /** Reads the `scale` subresource from the server, for kinds that are not cached, such as custom ones. */
  async #asked({ apiVersion, kind, name, uid }: OwnerReference, { metadata }: Pod): Promise<Scale | undefined> {
    const { client, signal } = this.#parts;
    // `.` or `..` would change the request's path; the server does not validate names in owner references
    if (name === '.' || name === '..') return undefined;
    const found = await findKind(client, { apiVersion, kind }, signal);
    if (found?.hasScale !== true) return undefined;
    const objects = `${groupPath(apiVersion)}/namespaces/${metadata.namespace}/${found.plural}`;
    try {
      const scale = JSON.parse(
        await client.getText(`${objects}/${encodeURIComponent(name)}/scale`, { signal }),
      ) as Sized;
      return scale.metadata.uid === uid ? { uid, replicas: scale.spec?.replicas ?? 0 } : undefined;
    } catch (error) {
      if (isApiStatus(error, 404)) return undefined;
      throw error;
    }
  }
}
