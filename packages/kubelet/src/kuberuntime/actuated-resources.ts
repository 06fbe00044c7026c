import { Checkpoint } from '@podwright/host';
import type { Enforcement } from '../cgroups/linux-resources.ts';
import type { GivenResources, RuntimeContainer, RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { observedResources } from './observed-resources.ts';
import type { ActuatedContainer, ActuatedRecord } from './resource-records.ts';

type Update = { id: string; from: GivenResources };

/**
 * Tracks the actual CPU and memory of running containers. Until its first update, a container has the resources recorded in an annotation
 * when it was created; updates are recorded in a checkpoint. Where the checkpoint is not reliable, the limits reported by the container
 * runtime are used: for a container whose update was interrupted, and for all containers of a pod that is not in the checkpoint.
 */
export class ActuatedResources {
  readonly #checkpoint: Checkpoint<ActuatedRecord>;
  readonly #enforcement: Enforcement | undefined;

  /** If `enforcement` is unset, limits reported by the container runtime are ignored. */
  constructor(checkpoint = new Checkpoint<ActuatedRecord>(), enforcement?: Enforcement) {
    this.#checkpoint = checkpoint;
    this.#enforcement = enforcement;
  }

  /** Resolves interrupted updates of the pod's containers. Must be called before `of`, with a status more recent than the last update. */
  observe({ pod: { uid }, containers }: RuntimePodStatus): void {
    const known = this.#checkpoint.get(uid);
    const record: ActuatedRecord = {};
    for (const container of containers) {
      if (container.state !== 'running') continue;
      const entry = known === undefined ? uncertain(container) : known[container.id];
      if (entry !== undefined) record[container.id] = { resources: this.#resolve(container, entry) };
    }
    this.#checkpoint.set(uid, record);
  }

  /** Returns the container's actual resources; `undefined` if it was never updated and has no resources annotation. */
  of(podUid: string, container: RuntimeContainer): GivenResources | undefined {
    const entry = this.#checkpoint.get(podUid)?.[container.id];
    return entry === undefined ? container.resources : this.#resolve(container, entry);
  }

  /** Returns the resources from the container's last update; `undefined` if it has never been updated. */
  updated(podUid: string, containerId: string): GivenResources | undefined {
    return this.#checkpoint.get(podUid)?.[containerId]?.resources;
  }

  /**
   * Marks updates as pending. Must be called before they start, so that the kubelet does not rely on the old resources if it is killed
   * during an update and restarted.
   */
  async begin(podUid: string, updates: Update[]): Promise<void> {
    for (const { id, from } of updates) this.#put(podUid, id, { resources: from, isPending: true });
    await this.#checkpoint.flush();
  }

  /** Records a container's update as partly applied. */
  progress(podUid: string, containerId: string, resources: GivenResources): void {
    this.#put(podUid, containerId, { resources, isPending: true });
  }

  /** Records a container's update as complete. */
  complete(podUid: string, containerId: string, resources: GivenResources): void {
    this.#put(podUid, containerId, { resources });
  }

  forget(podUid: string): void {
    this.#checkpoint.delete(podUid);
  }

  #put(podUid: string, containerId: string, entry: ActuatedContainer): void {
    this.#checkpoint.set(podUid, { ...this.#checkpoint.get(podUid), [containerId]: entry });
  }

  #resolve({ limits }: RuntimeContainer, { resources, isPending }: ActuatedContainer): GivenResources {
    if (!isPending || this.#enforcement === undefined) return resources;
    return observedResources(resources, limits, this.#enforcement);
  }
}

function uncertain({ resources }: RuntimeContainer): ActuatedContainer | undefined {
  return resources && { resources, isPending: true };
}
