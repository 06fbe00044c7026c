import { allContainers, amountOf, inUnits, type Node, overheadOf, type Pod, parseQuantity } from '@podwright/kube-api';

/** Amounts by resource: `cpu` in millicores, others in bytes or counts. */
export type Amounts = ReadonlyMap<string, bigint>;

/** The resources of every node, in upstream's order. */
const USUAL = ['cpu', 'memory', 'ephemeral-storage'];

/**
 * Returns a pod's requests: those of its containers, init containers and sidecars as they run, or the pod-level ones, plus the overhead.
 * While a resize is in progress, the larger of the spec's and the node's allocated amounts counts.
 */
export function requestsOf(pod: Pod): Amounts {
  const { spec } = pod;
  const lists = [...allContainers(spec), spec].map(({ resources }) => resources);
  const names = [...lists.flatMap((one) => [one?.requests, one?.limits]), spec.overhead].flatMap((list) =>
    Object.keys(list ?? {}),
  );
  const requests = [...new Set([...USUAL, ...names])].map((name) => [name, requestOf(pod, name)] as const);
  return new Map(requests.filter(([, amount]) => amount > 0n));
}

function requestOf(pod: Pod, name: string): bigint {
  const wanted = amountOf(pod, 'requests', name);
  const held = amountOf(withAllocated(pod), 'requests', name);
  return inUnits(larger(held, wanted) + overheadOf(pod, name), name);
}

function larger(a: bigint, b: bigint): bigint {
  if (a > b) return a;
  return b;
}

/** Returns the pod with the requests allocated by its node, which may exceed those in the spec until a resize is complete. */
function withAllocated(pod: Pod): Pod {
  const allocated = new Map(
    (pod.status?.containerStatuses ?? []).map((status) => [status.name, status.allocatedResources]),
  );
  const containers = pod.spec.containers.map((container) => {
    const requests = allocated.get(container.name);
    return requests === undefined ? container : { ...container, resources: { ...container.resources, requests } };
  });
  return { ...pod, spec: { ...pod.spec, containers } };
}

export function allocatableOf({ status }: Node): Amounts {
  const list = status?.allocatable ?? status?.capacity ?? {};
  return new Map(Object.entries(list).map(([name, text]) => [name, unitsOf(name, text)]));
}

export function sumOf(all: readonly Amounts[]): Amounts {
  const sum = new Map<string, bigint>();
  for (const amounts of all) for (const [name, amount] of amounts) sum.set(name, (sum.get(name) ?? 0n) + amount);
  return sum;
}

/** Rounds down, because a node cannot provide part of a unit. */
function unitsOf(name: string, text: string): bigint {
  return parseQuantity(text).nanos / (name === 'cpu' ? 1_000_000n : 1_000_000_000n);
}
