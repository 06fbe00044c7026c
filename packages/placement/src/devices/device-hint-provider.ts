/** Topology hints for the devices requested by pods and containers. */
import type { Container, Pod } from '@podwright/kube-api';
import type { ResourceHints } from '../topology/topology-hint.ts';
import { deviceHints } from './device-hints.ts';
import { podRequests } from './device-requests.ts';
import { deviceIds } from './device-types.ts';
import { containerRequests, type KnownDevices } from './known-devices.ts';

type Requests = {
  podUid: string;
  counts: Map<string, number>;
  /** Returns the IDs of the resource's devices that are already assigned; `undefined` if there are none. */
  assigned: (resource: string) => string[] | undefined;
};

export class DeviceHintProvider {
  readonly #known: KnownDevices;
  readonly #nodes: number[];

  /** `nodes`: IDs of the host's NUMA nodes. */
  constructor(known: KnownDevices, nodes: number[]) {
    this.#known = known;
    this.#nodes = nodes;
  }

  containerHints(pod: Pod, container: Container): ResourceHints {
    const { uid: podUid } = pod.metadata;
    const assigned = (resource: string) => this.#known.assignments.find(podUid, container.name, resource);
    return this.#hints({ podUid, counts: containerRequests(this.#known, pod, container), assigned });
  }

  podHints(pod: Pod): ResourceHints {
    const { uid: podUid } = pod.metadata;
    const own = this.#known.assignments.ofPod(podUid);
    const assigned = (resource: string) => {
      const ids = own.flatMap((one) => (one.resource === resource ? deviceIds(one) : []));
      return ids.length === 0 ? undefined : [...new Set(ids)];
    };
    const counts = podRequests(pod, (container) => containerRequests(this.#known, pod, container));
    return this.#hints({ podUid, counts, assigned });
  }

  #hints({ podUid, counts, assigned }: Requests): ResourceHints {
    const { inventory, assignments, reusable: all } = this.#known;
    const hints = [...counts].map(([resource, count]) => {
      const devices = inventory.devices(resource);
      const own = assigned(resource);
      if (own !== undefined && own.length !== count) return [resource, []];
      const inUse = assignments.inUse(resource);
      const free = devices.flatMap(({ id, isHealthy }) => (isHealthy && !inUse.has(id) ? [id] : []));
      const reusable = own === undefined ? all.of(podUid, resource) : new Set<string>();
      return [resource, deviceHints({ devices, available: new Set(own ?? free), reusable, count, nodes: this.#nodes })];
    });
    return Object.fromEntries(hints);
  }
}
