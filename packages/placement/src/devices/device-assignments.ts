import { type Assignment, deviceIds } from './device-types.ts';

/** Which container has which devices. */
export class DeviceAssignments {
  readonly #pods = new Map<string, Assignment[]>();

  constructor(assignments: Assignment[]) {
    for (const assignment of assignments) this.add(assignment);
  }

  /** In the place of what the container had of the resource. */
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

  /** The devices that a container has of a resource; `undefined` if it was given none. */
  find(podUid: string, container: string, resource: string): string[] | undefined {
    const found = this.ofContainer(podUid, container).find((one) => one.resource === resource);
    return found && deviceIds(found);
  }

  /** Every device of the resource that somebody has. */
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

  /** The container has again what it had before. */
  restore(podUid: string, container: string, assignments: Assignment[]): void {
    const others = this.ofPod(podUid).filter((one) => one.container !== container);
    const all = [...others, ...assignments];
    if (all.length === 0) this.#pods.delete(podUid);
    else this.#pods.set(podUid, all);
  }

  /** Whether the pod had any. */
  forget(podUid: string): boolean {
    return this.#pods.delete(podUid);
  }
}
