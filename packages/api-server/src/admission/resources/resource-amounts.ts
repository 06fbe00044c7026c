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

/** Returns the total amounts of a pod's containers: the sum over those that run concurrently, or the init containers' peak if higher. */
export function containersAmounts(spec: unknown, kind: AmountKind): Amounts {
  const ownOf = (container: JsonObject) => amountsOf(objectAt(container, 'resources', kind));
  let sidecars: Amounts = new Map();
  let peak: Amounts = new Map();
  for (const container of objectsAt(spec, 'initContainers')) {
    const together = sumOf(sidecars, ownOf(container));
    if (textAt(container, 'restartPolicy') === 'Always') sidecars = together;
    peak = maxOf(peak, together);
  }
  const sum = objectsAt(spec, 'containers').reduce((total, container) => sumOf(total, ownOf(container)), sidecars);
  return maxOf(sum, peak);
}

const isPodLevelResource = (name: string): boolean =>
  name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');

/** Returns a pod's amounts. Pod-level amounts take precedence over those of its containers. */
export function podAmounts(spec: unknown, kind: AmountKind): Amounts {
  const own = [...amountsOf(objectAt(spec, 'resources', kind))].filter(([name]) => isPodLevelResource(name));
  return new Map([...containersAmounts(spec, kind), ...own]);
}
