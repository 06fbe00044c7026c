import type { GivenResources, RuntimeContainer } from '../kubecontainer/runtime-pod.ts';

/**
 * CPU and memory that running containers actually have. An annotation records what a container was created with; later resizes are only
 * stored here. After a restart the kubelet repeats them.
 */
export class ActuatedResources {
  readonly #given = new Map<string, GivenResources>();

  /** `undefined` for a container without the annotation. */
  of({ id, resources }: RuntimeContainer): GivenResources | undefined {
    return this.#given.get(id) ?? resources;
  }

  /** The resources of a container's last resize, if there was one. */
  given(containerId: string): GivenResources | undefined {
    return this.#given.get(containerId);
  }

  set(containerId: string, resources: GivenResources): void {
    this.#given.set(containerId, resources);
  }

  /** Forgets containers that have ended. */
  forget(containerIds: string[]): void {
    for (const id of containerIds) this.#given.delete(id);
  }
}
