import { type Container, type Pod, parseQuantity } from '@podwright/kube-api';

/** A change to a container's request or limit, with the labels for upstream's metric. */
export type RequestedResize = {
  resource: 'cpu' | 'memory';
  requirement: 'requests' | 'limits';
  operation: 'add' | 'remove' | 'increase' | 'decrease';
};

/** Lists the container resizes between two versions of a pod; an amount of 0 counts as absent. Pure. */
export function requestedResizes(before: Pod, after: Pod): RequestedResize[] {
  const now = new Map(containersOf(after).map((container) => [container.name, container]));
  return containersOf(before).flatMap((old) => {
    const wanted = now.get(old.name);
    return wanted === undefined ? [] : changesOf(old, wanted);
  });
}

const containersOf = ({ spec }: Pod) => [...(spec.initContainers ?? []), ...spec.containers];

function changesOf(old: Container, wanted: Container): RequestedResize[] {
  const changes: RequestedResize[] = [];
  for (const resource of ['memory', 'cpu'] as const)
    for (const requirement of ['requests', 'limits'] as const) {
      const amount = ({ resources }: Container) => parseQuantity(resources?.[requirement]?.[resource] ?? '0').nanos;
      const operation = operationOf(amount(old), amount(wanted));
      if (operation !== undefined) changes.push({ resource, requirement, operation });
    }
  return changes;
}

function operationOf(old: bigint, wanted: bigint): RequestedResize['operation'] | undefined {
  if (old === wanted) return undefined;
  if (wanted === 0n) return 'remove';
  if (old === 0n) return 'add';
  return wanted > old ? 'increase' : 'decrease';
}
