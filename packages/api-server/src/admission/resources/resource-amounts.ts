/** Resource lists, such as a container's requests: amounts in nano-units, by resource name. */
import { formatQuantity, parseQuantity } from '@podwright/kube-api';
import { type JsonObject, objectAt, objectsAt, textAt } from '@podwright/kube-kinds';

/** An amount in nano-units, and a quantity string whose notation is used when formatting it. */
export type Amount = { nanos: bigint; like: string };
export type Amounts = ReadonlyMap<string, Amount>;

const ZERO: Amount = { nanos: 0n, like: '0' };

/** Parses a resource list. */
export const amountsOf = (list: JsonObject | undefined): Amounts =>
  new Map(
    Object.keys(list ?? {}).map((name) => {
      const text = textAt(list, name) || String(list?.[name] ?? '0');
      return [name, { nanos: parseQuantity(text).nanos, like: text }];
    }),
  );

export const formatAmount = ({ nanos, like }: Amount): string => formatQuantity(nanos, like);

export const sumOf = (a: Amounts, b: Amounts): Amounts =>
  combined(a, b, (one, other) => ({ nanos: one.nanos + other.nanos, like: one.nanos === 0n ? other.like : one.like }));

export const maxOf = (a: Amounts, b: Amounts): Amounts =>
  combined(a, b, (one, other) => (other.nanos > one.nanos ? other : one));

/** Whether two resource lists contain the same names and amounts. */
export function hasSameAmounts(a: JsonObject | undefined, b: JsonObject | undefined): boolean {
  const [one, other] = [amountsOf(a), amountsOf(b)];
  return one.size === other.size && [...one].every(([name, { nanos }]) => other.get(name)?.nanos === nanos);
}

/** Combines two resource lists. Amounts that occur in only one of the lists are copied unchanged. */
function combined(a: Amounts, b: Amounts, combine: (one: Amount, other: Amount) => Amount): Amounts {
  const all = new Map(a);
  for (const [name, amount] of b) all.set(name, all.has(name) ? combine(all.get(name) ?? ZERO, amount) : amount);
  return all;
}

export type AmountKind = 'requests' | 'limits';

const wantedOf = (container: JsonObject, kind: AmountKind) => amountsOf(objectAt(container, 'resources', kind));

/**
 * Returns the total amounts of a pod's containers: the sum over those that run concurrently, or the init containers' peak if higher. With
 * the pod's `status`, containers and sidecars count with what they take until a resize is complete (`takenAmounts`).
 */
export function containersAmounts(spec: unknown, kind: AmountKind, status?: unknown): Amounts {
  const takenOf = takenAmounts(status, kind);
  let sidecars: Amounts = new Map();
  let peak: Amounts = new Map();
  for (const container of objectsAt(spec, 'initContainers')) {
    const isSidecar = textAt(container, 'restartPolicy') === 'Always';
    const together = sumOf(sidecars, isSidecar ? takenOf(container) : wantedOf(container, kind));
    if (isSidecar) sidecars = together;
    peak = maxOf(peak, together);
  }
  const sum = objectsAt(spec, 'containers').reduce((total, container) => sumOf(total, takenOf(container)), sidecars);
  return maxOf(sum, peak);
}

/**
 * Returns a function for the amounts that a container takes: the largest of the wanted, actual and, for requests, allocated amounts. The
 * wanted ones do not count if the node can never meet them (upstream's PodRequests and PodLimits with UseStatusResources).
 */
function takenAmounts(status: unknown, kind: AmountKind): (container: JsonObject) => Amounts {
  const known = [...objectsAt(status, 'containerStatuses'), ...objectsAt(status, 'initContainerStatuses')];
  const pending = objectsAt(status, 'conditions').find((one) => textAt(one, 'type') === 'PodResizePending');
  return (container) => {
    const wanted = wantedOf(container, kind);
    const own = known.find((one) => textAt(one, 'name') === textAt(container, 'name'));
    if (objectAt(own, 'resources') === undefined) return wanted;
    const allocated = kind === 'limits' ? undefined : objectAt(own, 'allocatedResources');
    const held = maxOf(wantedOf(own!, kind), amountsOf(allocated));
    return textAt(pending, 'reason') === 'Infeasible' ? held : maxOf(wanted, held);
  };
}

const isPodLevelResource = (name: string): boolean =>
  name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');

/** Returns a pod's amounts. Pod-level amounts take precedence over those of its containers, for which see `containersAmounts`. */
export function podAmounts(spec: unknown, kind: AmountKind, status?: unknown): Amounts {
  const own = [...amountsOf(objectAt(spec, 'resources', kind))].filter(([name]) => isPodLevelResource(name));
  return new Map([...containersAmounts(spec, kind, status), ...own]);
}
