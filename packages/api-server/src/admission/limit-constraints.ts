/** Checks LimitRange constraints; the error messages are worded as in upstream. */
import { type ApiObject, type JsonObject, objectAt, objectsAt, textAt } from '@podwright/kube-kinds';
import { type Amount, type Amounts, amountsOf, formatAmount, podAmounts } from './resources/resource-amounts.ts';

type Usage = { requests: Amounts; limits: Amounts };

/** A LimitRange constraint: the object type that it applies to, the resource name, and the amount. */
type Bound = { type: string; name: string; amount: Amount };

const NANOS_PER_MILLI = 1_000_000n;

/** Returns a message for each LimitRange constraint that the pod violates. */
export function podProblems(range: ApiObject, { spec }: ApiObject): string[] {
  const containers = ['containers', 'initContainers'].flatMap((field) => objectsAt(spec, field)).map(containerUsage);
  return objectsAt(range, 'spec', 'limits').flatMap((limit) => {
    const type = textAt(limit, 'type');
    if (type === 'Container') return containers.flatMap((usage) => usageProblems(limit, type, usage));
    if (type !== 'Pod') return [];
    return usageProblems(limit, type, { requests: podAmounts(spec, 'requests'), limits: podAmounts(spec, 'limits') });
  });
}

/** Returns a message for each LimitRange constraint that the claim violates. Only the claim's requests are checked. */
export function claimProblems(range: ApiObject, { spec }: ApiObject): string[] {
  const requests = amountsOf(objectAt(spec, 'resources', 'requests'));
  return objectsAt(range, 'spec', 'limits').flatMap((limit) => {
    const type = textAt(limit, 'type');
    if (type !== 'PersistentVolumeClaim') return [];
    return [
      ...boundsOf(limit, 'min', type).flatMap((bound) => minProblem(bound, { requests, limits: new Map() })),
      ...boundsOf(limit, 'max', type).flatMap((bound) => maxRequestProblem(bound, requests)),
    ];
  });
}

const containerUsage = (container: JsonObject): Usage => ({
  requests: amountsOf(objectAt(container, 'resources', 'requests')),
  limits: amountsOf(objectAt(container, 'resources', 'limits')),
});

const usageProblems = (limit: JsonObject, type: string, usage: Usage): string[] => [
  ...boundsOf(limit, 'min', type).flatMap((bound) => minProblem(bound, usage)),
  ...boundsOf(limit, 'max', type).flatMap((bound) => maxProblem(bound, usage)),
  ...boundsOf(limit, 'maxLimitRequestRatio', type).flatMap((bound) => ratioProblem(bound, usage)),
];

const boundsOf = (limit: JsonObject, field: string, type: string): Bound[] =>
  [...amountsOf(objectAt(limit, field))]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, amount]) => ({ type, name, amount }));

function minProblem({ type, name, amount }: Bound, { requests, limits }: Usage): string[] {
  const [request, limit] = [requests.get(name), limits.get(name)];
  const least = `minimum ${name} usage per ${type} is ${formatAmount(amount)}`;
  if (request === undefined) return [`${least}.  No request is specified`];
  if (milli(request) < milli(amount)) return [`${least}, but request is ${formatAmount(request)}`];
  if (limit !== undefined && milli(limit) < milli(amount)) return [`${least}, but limit is ${formatAmount(limit)}`];
  return [];
}

function maxProblem({ type, name, amount }: Bound, { requests, limits }: Usage): string[] {
  const [request, limit] = [requests.get(name), limits.get(name)];
  const most = `maximum ${name} usage per ${type} is ${formatAmount(amount)}`;
  if (limit === undefined) return [`${most}.  No limit is specified`];
  if (milli(limit) > milli(amount)) return [`${most}, but limit is ${formatAmount(limit)}`];
  if (request !== undefined && milli(request) > milli(amount))
    return [`${most}, but request is ${formatAmount(request)}`];
  return [];
}

function maxRequestProblem({ type, name, amount }: Bound, requests: Amounts): string[] {
  const request = requests.get(name);
  const most = `maximum ${name} usage per ${type} is ${formatAmount(amount)}`;
  if (request === undefined) return [`${most}.  No request is specified`];
  return milli(request) > milli(amount) ? [`${most}, but request is ${formatAmount(request)}`] : [];
}

function ratioProblem({ type, name, amount }: Bound, { requests, limits }: Usage): string[] {
  const [request, limit] = [requests.get(name), limits.get(name)];
  const most = `${name} max limit to request ratio per ${type} is ${formatAmount(amount)}`;
  if (!request?.nanos) return [`${most}, but no request is specified or request is 0`];
  if (!limit?.nanos) return [`${most}, but no limit is specified or limit is 0`];
  const ratio = Number(milli(limit)) / Number(milli(request));
  return ratio * 1000 > Number(milli(amount)) ? [`${most}, but provided ratio is ${ratio.toFixed(6)}`] : [];
}

/** Converts an amount to milli-units, rounding up. */
const milli = ({ nanos }: Amount): bigint => (nanos + NANOS_PER_MILLI - 1n) / NANOS_PER_MILLI;
