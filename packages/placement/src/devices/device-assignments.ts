import { type Assignment, deviceIds } from './device-types.ts';

/** The devices assigned to each container. */
export class DeviceAssignments {
  readonly #pods = new Map<string, Assignment[]>();

  constructor(assignments: Assignment[]) {
    for (const assignment of assignments) this.add(assignment);
  }

  /** Sets a container's devices for one resource. */
  add(assignment: Assignment): void {
    const { podUid, container, resource } = assignment;
    const others = this.ofPod(podUid).filter((one) => one.container !== container || one.resource !== resource);
    this.#pods.set(podUid, [...others, assignment]);
  }

  ofPod(podUid: string): Assignment[] {
    return this.#pods.get(podUid) ?? [];
  }

  ofContainer(podUid: string, container: string): Assignment[] {
    return this.ofPod(podUid).filter((one) => one.container === container);
  }

  /** Returns the container's devices for a resource; `undefined` if none are assigned. */
  find(podUid: string, container: string, resource: string): string[] | undefined {
    const found = this.ofContainer(podUid, container).find((one) => one.resource === resource);
    return found && deviceIds(found);
  }

  /** Returns the IDs of a resource's assigned devices. */
  inUse(resource: string): Set<string> {
    return new Set(this.all().flatMap((one) => (one.resource === resource ? deviceIds(one) : [])));
  }

  resources(): Set<string> {
    return new Set(this.all().map(({ resource }) => resource));
  }

  all(): Assignment[] {
    return [...this.#pods.values()].flat();
  }

  pods(): string[] {
    return [...this.#pods.keys()];
  }

  /** Reverts a container's assignments after a change has failed. */
  restore(podUid: string, container: string, assignments: Assignment[]): void {
    const others = this.ofPod(podUid).filter((one) => one.container !== container);
    const all = [...others, ...assignments];
    if (all.length === 0) this.#pods.delete(podUid);
    else this.#pods.set(podUid, all);
  }

  /** Removes a pod's assignments. Returns true if the pod had any. */
  forget(podUid: string): boolean {
    return this.#pods.delete(podUid);
  }
}
