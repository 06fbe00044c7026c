import { type Pod, qosClass } from '@podwright/kube-api';
import { type ApiObject, numberAt, objectAt, objectsAt, textAt, valueAt } from '@podwright/kube-kinds';
import { count, meetsValue, type QuotaEvaluator } from './quota-evaluator.ts';
import { type Amount, type Amounts, amountsOf, podAmounts } from './resource-amounts.ts';

const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'];
const NAMES = ['count/pods', 'pods', ...COMPUTE.flatMap((name) => [name, `requests.${name}`, `limits.${name}`])];
/** Resource names for which quotas are strict: if a quota limits one of these, each container must set it, unless the pod sets it. */
const REQUIRED = ['cpu', 'memory'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]);

/** Counts pods and sums the requests and limits of non-terminal pods. */
export const POD_QUOTA: QuotaEvaluator = {
  measures: (name) => NAMES.includes(name) || /^(?:requests\.)?hugepages-/.test(name) || isExtendedRequest(name),
  usageOf: (pod, nowMs) => new Map([['count/pods', count(1)], ...(isCharged(pod, nowMs) ? computeUsage(pod) : [])]),
  meets: ({ name, ...scope }, pod) => {
    switch (name) {
      case 'Terminating':
        return isTerminating(pod);
      case 'NotTerminating':
        return !isTerminating(pod);
      case 'BestEffort':
        return isBestEffort(pod);
      case 'NotBestEffort':
        return !isBestEffort(pod);
      case 'PriorityClass':
        return meetsValue({ name, ...scope }, textAt(pod, 'spec', 'priorityClassName') || undefined);
      case 'CrossNamespacePodAffinity':
        return hasCrossNamespaceAffinity(pod);
      default:
        return false;
    }
  },
  handles: ({ operation, subresource, object, oldObject }) => {
    if (subresource === 'resize') return operation === 'UPDATE';
    if (subresource !== '') return false;
    return operation === 'CREATE' || isTerminating(object) !== isTerminating(oldObject);
  },
  missing: (limited, pod) => missingAmounts(limited.filter((name) => REQUIRED.includes(name)).sort(), pod),
};

const isExtendedRequest = (name: string): boolean =>
  name.startsWith('requests.') && name.includes('/') && !name.includes('kubernetes.io/');

/** Maps amounts to quota resource names: requests both with and without the `requests.` prefix, limits only with the `limits.` prefix. */
function quotaNames(requests: Amounts, limits: Amounts): [string, Amount][] {
  const named = (prefix: string, amounts: Amounts): [string, Amount][] =>
    COMPUTE.flatMap((name) => {
      const amount = amounts.get(name);
      return amount === undefined ? [] : [[`${prefix}${name}`, amount]];
    });
  const hugePages = [...requests].filter(([name]) => name.startsWith('hugepages-'));
  const extended = [...requests].filter(([name]) => isExtendedRequest(`requests.${name}`));
  return [
    ...named('', requests),
    ...named('requests.', requests),
    ...named('limits.', limits),
    ...hugePages,
    ...[...hugePages, ...extended].map(([name, amount]): [string, Amount] => [`requests.${name}`, amount]),
  ];
}

function computeUsage({ spec, status }: ApiObject): [string, Amount][] {
  const overhead = amountsOf(objectAt(spec, 'overhead'));
  const withOverhead = (amounts: Amounts, isRequests: boolean): Amounts => {
    const added = [...overhead].filter(([name]) => isRequests || (amounts.get(name)?.nanos ?? 0n) > 0n);
    const sums = added.map(([name, amount]): [string, Amount] => {
      const own = amounts.get(name);
      return [name, own === undefined ? amount : { nanos: own.nanos + amount.nanos, like: own.like }];
    });
    return new Map([...amounts, ...sums]);
  };
  const requests = withOverhead(podAmounts(spec, 'requests', status), true);
  const limits = withOverhead(podAmounts(spec, 'limits', status), false);
  return [['pods', count(1)], ...quotaNames(requests, limits)];
}

/**
 * Whether the pod is charged to quotas, which it is until it terminates. A terminating pod on a lost node is no longer charged after its
 * grace period.
 */
function isCharged(pod: ApiObject, nowMs: number): boolean {
  if (['Failed', 'Succeeded'].includes(textAt(pod, 'status', 'phase'))) return false;
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return true;
  return nowMs <= Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000;
}

const isTerminating = (pod: ApiObject | undefined): boolean =>
  (numberAt(pod, 'spec', 'activeDeadlineSeconds') ?? -1) >= 0;

const isBestEffort = (pod: ApiObject): boolean => qosClass(pod as ApiObject & Pod) === 'BestEffort';

function hasCrossNamespaceAffinity(pod: ApiObject): boolean {
  const terms = ['podAffinity', 'podAntiAffinity'].flatMap((kind) => [
    ...objectsAt(pod, 'spec', 'affinity', kind, 'requiredDuringSchedulingIgnoredDuringExecution'),
    ...objectsAt(pod, 'spec', 'affinity', kind, 'preferredDuringSchedulingIgnoredDuringExecution').map((term) =>
      objectAt(term, 'podAffinityTerm'),
    ),
  ]);
  const isCrossing = (term: unknown) =>
    objectsAt(term, 'namespaces').length > 0 || valueAt(term, 'namespaceSelector') !== undefined;
  return terms.some(isCrossing);
}

function missingAmounts(required: readonly string[], { spec }: ApiObject): string | undefined {
  if (hasPodLevelAmounts(spec)) return undefined;
  const containers = [...objectsAt(spec, 'containers'), ...objectsAt(spec, 'initContainers')];
  const problems = required.flatMap((name) => {
    const lacking = containers.filter((container) => {
      const amounts = (kind: string) => amountsOf(objectAt(container, 'resources', kind));
      return !quotaNames(amounts('requests'), amounts('limits')).some(([own]) => own === name);
    });
    const names = [...new Set(lacking.map((container) => textAt(container, 'name')))].sort();
    return names.length === 0 ? [] : [`${name} for: ${names.join(',')}`];
  });
  return problems.length === 0 ? undefined : `must specify ${problems.join('; ')}`;
}

const hasPodLevelAmounts = (spec: unknown): boolean =>
  ['requests', 'limits'].some((kind) =>
    Object.keys(objectAt(spec, 'resources', kind) ?? {}).some(
      (name) => name === 'cpu' || name === 'memory' || name.startsWith('hugepages-'),
    ),
  );
