import { type Container, isSidecar, type Pod } from '@podwright/kube-api';
import { type Assignment, deviceIds } from './device-types.ts';

/** Init container devices that later containers of the same pod may reuse. */
export class ReusableDevices {
  /** IDs of reusable devices by resource, for each pod being admitted. */
  readonly #pods = new Map<string, Map<string, Set<string>>>();

  /** Returns the IDs of the devices that the pod's later containers may reuse. */
  of(podUid: string, resource: string): ReadonlySet<string> {
    return this.#pods.get(podUid)?.get(resource) ?? new Set();
  }

  /** Records which devices are reusable: an init container's are, a sidecar's or a main container's are not. */
  note(pod: Pod, container: Container, assignments: readonly Assignment[]): void {
    const isInit = pod.spec.initContainers?.some(({ name }) => name === container.name) === true;
    const leaves = isInit && !isSidecar(container);
    const { uid } = pod.metadata;
    const reusable = this.#pods.get(uid) ?? new Map<string, Set<string>>();
    for (const assignment of assignments) {
      const ids = new Set(reusable.get(assignment.resource));
      for (const id of deviceIds(assignment)) leaves ? ids.add(id) : ids.delete(id);
      reusable.set(assignment.resource, ids);
    }
    if (reusable.size > 0) this.#pods.set(uid, reusable);
  }

  forget(podUid: string): void {
    this.#pods.delete(podUid);
  }
}
