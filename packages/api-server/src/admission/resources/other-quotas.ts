/** How claims, Services and all other objects count against quotas. */
import { type ApiObject, isSameValue, numberAt, objectsAt, textAt, valueAt } from '@podwright/kube-kinds';
import { claimClass } from './claim-class.ts';
import { POD_QUOTA } from './pod-quota.ts';
import { count, meetsValue, type QuotaEvaluator } from './quota-evaluator.ts';
import { type Amount, amountsOf, maxOf } from './resource-amounts.ts';

const OF_CLASS = '.storageclass.storage.k8s.io/';
const CLAIM_NAMES = ['persistentvolumeclaims', 'requests.storage'];

/** Counts claims and their storage, in total and per StorageClass. */
const CLAIM_QUOTA: QuotaEvaluator = {
  measures: (name) =>
    name === 'count/persistentvolumeclaims' ||
    CLAIM_NAMES.some((own) => own === name || name.endsWith(`${OF_CLASS}${own}`)),
  usageOf: (claim) => {
    const storage = storageOf(claim);
    const amounts: [string, Amount][] = [
      ['persistentvolumeclaims', count(1)],
      ...(storage === undefined ? [] : [['requests.storage', storage] satisfies [string, Amount]]),
    ];
    const className = claimClass(claim);
    const byClass = className
      ? amounts.map(([name, amount]): [string, Amount] => [`${className}${OF_CLASS}${name}`, amount])
      : [];
    return new Map([['count/persistentvolumeclaims', count(1)], ...amounts, ...byClass]);
  },
  meets: (scope, claim) => {
    if (scope.name !== 'VolumeAttributesClass') return false;
    const names = attributesClasses(claim);
    return names.length === 0 ? meetsValue(scope, undefined) : names.some((name) => meetsValue(scope, name));
  },
  handles: ({ operation, subresource, object, oldObject }) => {
    if (subresource === '') return operation === 'CREATE' || operation === 'UPDATE';
    const isChanged = (field: string) =>
      !isSameValue(valueAt(object, 'status', field), valueAt(oldObject, 'status', field));
    return (
      subresource === 'status' &&
      ['allocatedResources', 'currentVolumeAttributesClassName', 'modifyVolumeStatus'].some(isChanged)
    );
  },
};

const NANOS = 1_000_000_000n;

/** Returns the requested storage, or the allocated storage if larger, in whole bytes. */
function storageOf(claim: ApiObject): Amount | undefined {
  const amounts = (...path: string[]) => {
    const text = textAt(claim, ...path, 'storage');
    return text === '' ? new Map<string, Amount>() : amountsOf({ storage: text });
  };
  const requested = amounts('spec', 'resources', 'requests');
  if (requested.size === 0) return undefined;
  const { nanos, like } = maxOf(requested, amounts('status', 'allocatedResources')).get('storage')!;
  return { nanos: ((nanos + NANOS - 1n) / NANOS) * NANOS, like };
}

const attributesClasses = (claim: ApiObject): string[] =>
  [
    textAt(claim, 'spec', 'volumeAttributesClassName'),
    textAt(claim, 'status', 'currentVolumeAttributesClassName'),
    textAt(claim, 'status', 'modifyVolumeStatus', 'targetVolumeAttributesClassName'),
  ].filter((name) => name !== '');

const SERVICE_NAMES = ['count/services', 'services', 'services.nodeports', 'services.loadbalancers'];

/** Counts Services, their node ports and their load balancers. */
const SERVICE_QUOTA: QuotaEvaluator = {
  measures: (name) => SERVICE_NAMES.includes(name),
  usageOf: (service) => {
    const type = textAt(service, 'spec', 'type');
    return new Map([
      ['count/services', count(1)],
      ['services', count(1)],
      ['services.nodeports', count(nodePortsOf(service, type))],
      ['services.loadbalancers', count(type === 'LoadBalancer' ? 1 : 0)],
    ]);
  },
  meets: () => false,
  handles: ({ operation, subresource }) => subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
};

/** Returns the number of node ports that the Service has or will be allocated. */
function nodePortsOf(service: ApiObject, type: string): number {
  const ports = objectsAt(service, 'spec', 'ports');
  if (type !== 'NodePort' && type !== 'LoadBalancer') return 0;
  const isAllocated = type === 'NodePort' || valueAt(service, 'spec', 'allocateLoadBalancerNodePorts') !== false;
  return isAllocated ? ports.length : ports.filter((port) => (numberAt(port, 'nodePort') ?? 0) !== 0).length;
}

/**
 * Resources whose quota names also work without the `count/` prefix, because they could be limited before generic object count quotas
 * existed.
 */
const ALIASES = ['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets'];

/** Returns the evaluator for a resource without an evaluator of its own, which only counts objects. */
function countQuota(resource: string): QuotaEvaluator {
  const names = [`count/${resource}`, ...(ALIASES.includes(resource) ? [resource] : [])];
  return {
    measures: (name) => names.includes(name),
    usageOf: () => new Map(names.map((name) => [name, count(1)])),
    meets: () => false,
    handles: ({ operation, subresource }) => subresource === '' && operation === 'CREATE',
  };
}

/** Resources that are not stored or have never been subject to quotas. */
const IGNORED = [
  'bindings',
  'componentstatuses',
  'events',
  'events.events.k8s.io',
  'localsubjectaccessreviews.authorization.k8s.io',
];

const EVALUATORS: ReadonlyMap<string, QuotaEvaluator> = new Map([
  ['pods', POD_QUOTA],
  ['persistentvolumeclaims', CLAIM_QUOTA],
  ['services', SERVICE_QUOTA],
]);

/** Returns the quota evaluator for a group resource, or `undefined` if quotas do not apply to it. */
export const quotaEvaluatorOf = (resource: string): QuotaEvaluator | undefined =>
  IGNORED.includes(resource) ? undefined : (EVALUATORS.get(resource) ?? countQuota(resource));
