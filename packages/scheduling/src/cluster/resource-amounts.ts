import {
  allContainers,
  amountOf,
  type Container,
  findCondition,
  inUnits,
  isSidecar,
  type Node,
  overheadOf,
  type Pod,
  parseQuantity,
  type ResourceList,
  type ResourceRequirements,
} from '@podwright/kube-api';

/** Amounts by resource: `cpu` in millicores, others in bytes or counts. */
export type Amounts = ReadonlyMap<string, bigint>;

/** The resources that every node has, in upstream's order. All others are extended resources. */
const USUAL = ['cpu', 'memory', 'ephemeral-storage'];

/**
 * Returns a pod's requests: those of its containers, init containers and sidecars as they run, or the pod-level ones, plus the overhead.
 * While a resize is in progress, the largest of the desired (spec), allocated and actual amounts counts (upstream's PodRequests with
 * UseStatusResources).
 */
export function requestsOf(pod: Pod): Amounts {
  const effective = withStatus(pod);
  const { spec } = effective;
  const lists = [...allContainers(spec), spec].map(({ resources }) => resources);
  const names = [...lists.flatMap((one) => [one?.requests, one?.limits]), spec.overhead].flatMap((list) =>
    Object.keys(list ?? {}),
  );
  const requests = [...new Set([...USUAL, ...names])].map((name) => [name, requestOf(effective, name)] as const);
  return new Map(requests.filter(([, amount]) => amount > 0n));
}

function requestOf(pod: Pod, name: string): bigint {
  return inUnits(amountOf(pod, 'requests', name) + overheadOf(pod, name), name);
}

/** The resource fields of a container's status or of a pod's status. */
type ResourceStatus = { resources?: ResourceRequirements; allocatedResources?: ResourceList };

/** Returns the pod with its effective requests: those that count until a resize is complete. */
function withStatus(pod: Pod): Pod {
  const { spec, status } = pod;
  const { containerStatuses = [], initContainerStatuses = [] } = status ?? {};
  const statuses = new Map([...containerStatuses, ...initContainerStatuses].map((one) => [one.name, one]));
  const isInfeasible = findCondition(status?.conditions, 'PodResizePending')?.reason === 'Infeasible';
  const effective = (container: Container): Container => {
    const resources = effectiveResources(container.resources, statuses.get(container.name), isInfeasible);
    return resources === container.resources ? container : { ...container, resources };
  };
  const { containers, initContainers = [] } = spec;
  return {
    ...pod,
    spec: {
      ...spec,
      containers: containers.map(effective),
      initContainers: initContainers.map((one) => (isSidecar(one) ? effective(one) : one)),
      ...(spec.resources === undefined ? {} : { resources: podResources(spec.resources, status, isInfeasible) }),
    },
  };
}

/** Returns the effective pod-level requests, limited to resources that the spec requests at the pod level. */
function podResources(
  { requests = {} }: ResourceRequirements,
  status: ResourceStatus | undefined,
  isInfeasible: boolean,
): ResourceRequirements {
  const effective = effectiveResources({ requests }, status, isInfeasible)?.requests ?? {};
  return { requests: Object.fromEntries(Object.entries(effective).filter(([name]) => Object.hasOwn(requests, name))) };
}

function effectiveResources(
  wanted: ResourceRequirements | undefined,
  status: ResourceStatus | undefined,
  isInfeasible: boolean,
): ResourceRequirements | undefined {
  if (status?.resources === undefined) return wanted;
  const held = [status.resources.requests, status.allocatedResources];
  return { requests: largestOf(isInfeasible ? held : [{ ...wanted?.limits, ...wanted?.requests }, ...held]) };
}

function largestOf(lists: readonly (ResourceList | undefined)[]): ResourceList {
  const largest = new Map<string, string>();
  for (const [name, text] of lists.flatMap((list) => Object.entries(list ?? {}))) {
    const known = largest.get(name);
    if (known === undefined || parseQuantity(known).nanos < parseQuantity(text).nanos) largest.set(name, text);
  }
  return Object.fromEntries(largest);
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

/** Converts a quantity to whole units, rounding down, because a node cannot provide part of a unit. */
function unitsOf(name: string, text: string): bigint {
  return parseQuantity(text).nanos / (name === 'cpu' ? 1_000_000n : 1_000_000_000n);
}
