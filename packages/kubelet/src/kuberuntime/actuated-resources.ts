import type { GivenResources, RuntimeContainer } from '../kubecontainer/runtime-pod.ts';

/**
 * What running containers were given of CPU and memory. A container is made with a note of it; what it was given since is kept here and
 * lost with the kubelet, which then gives it once more.
 */
export class ActuatedResources {
  readonly #given = new Map<string, GivenResources>();

  /** Undefined for a container that was made without a note. */
  of({ id, resources }: RuntimeContainer): GivenResources | undefined {
    return this.#given.get(id) ?? resources;
  }

  /** What a container was given since it was made, if anything. */
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
