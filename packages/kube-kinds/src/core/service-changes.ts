/** Service fields that depend on each other during updates (registry/core/service). */
import type { ApiObject } from '../api-object.ts';
import { isSameValue, numberAt, textAt, valueAt, withItems, withValue } from '../values.ts';
import {
  clusterIpsOf,
  hasNodePorts,
  isExternallyAccessible,
  isExternalName,
  isLoadBalancer,
  needsHealthCheck,
  portsOf,
} from './service-fields.ts';

/**
 * Syncs `clusterIPs` with `clusterIP` for clients that set only the latter. `old` is `undefined` for a new service. Any other mismatch is
 * rejected by validation.
 */
export function withSyncedClusterIps(service: ApiObject, old: ApiObject | undefined): ApiObject {
  const ip = textAt(service, 'spec', 'clusterIP');
  const ips = clusterIpsOf(service);
  if (old === undefined) return ip !== '' && ips.length === 0 ? withClusterIps(service, [ip]) : service;
  const oldIp = textAt(old, 'spec', 'clusterIP');
  const oldIps = clusterIpsOf(old);
  if (ip === oldIp) return oldIps.length > 0 && ips.length === 0 ? withClusterIps(service, oldIps) : service;
  if (!isSameValue(ips, oldIps)) return service;
  return withClusterIps(service, oldIp !== '' && ip === '' ? [] : [ip]);
}

const withClusterIps = (service: ApiObject, ips: readonly string[]): ApiObject =>
  withValue(service, ['spec', 'clusterIPs'], ips.length === 0 ? undefined : ips);

/**
 * Fills in the cluster IPs, node ports and health check port that were allocated to `old`, so that clients can reapply the same manifest.
 */
export function withAllocatedValues(service: ApiObject, old: ApiObject): ApiObject {
  return withOldHealthCheckPort(withOldNodePorts(withOldClusterIps(service, old), old), old);
}

function withOldClusterIps(service: ApiObject, old: ApiObject): ApiObject {
  if (isExternalName(service) || isExternalName(old)) return service;
  const hasIp = textAt(service, 'spec', 'clusterIP') !== '';
  const object = hasIp ? service : withValue(service, ['spec', 'clusterIP'], valueAt(old, 'spec', 'clusterIP'));
  return clusterIpsOf(object).length > 0 ? object : withClusterIps(object, clusterIpsOf(old));
}

/** Copies the node ports of the old service to ports of the same name that have none, except for node ports now used by another port. */
function withOldNodePorts(service: ApiObject, old: ApiObject): ApiObject {
  if (!hasNodePorts(service) || !hasNodePorts(old)) return service;
  const used = nodePortsOf(service);
  const byName = new Map(portsOf(old).map((port) => [textAt(port, 'name'), numberAt(port, 'nodePort') ?? 0]));
  return withItems(service, ['spec', 'ports'], (port) => {
    const nodePort = byName.get(textAt(port, 'name')) ?? 0;
    const isTaken = nodePort === 0 || used.has(nodePort) || (numberAt(port, 'nodePort') ?? 0) !== 0;
    return isTaken ? port : { ...port, nodePort };
  });
}

const nodePortsOf = (service: ApiObject): Set<number> =>
  new Set(portsOf(service).flatMap((port) => numberAt(port, 'nodePort') || []));

function withOldHealthCheckPort(service: ApiObject, old: ApiObject): ApiObject {
  if (!needsHealthCheck(service) || !needsHealthCheck(old)) return service;
  if ((numberAt(service, 'spec', 'healthCheckNodePort') ?? 0) !== 0) return service;
  return withValue(service, ['spec', 'healthCheckNodePort'], valueAt(old, 'spec', 'healthCheckNodePort'));
}

/** Returns true if the old service uses fields that do not apply to the new service's type or policies. */
type Unsuitable = (service: ApiObject, old: ApiObject) => boolean;

const losesClusterIp: Unsuitable = (service, old) => !isExternalName(old) && isExternalName(service);
const stopsBalancing: Unsuitable = (service, old) => isLoadBalancer(old) && !isLoadBalancer(service);

/** Fields to remove if they no longer apply. A field changed by the client is kept, and rejected by validation. */
const REMOVED: readonly (readonly [fields: readonly string[], applies: Unsuitable])[] = [
  [['clusterIP', 'clusterIPs'], losesClusterIp],
  [['ipFamilies'], losesClusterIp],
  [['ipFamilyPolicy'], losesClusterIp],
  [['healthCheckNodePort'], (service, old) => needsHealthCheck(old) && !needsHealthCheck(service)],
  [['allocateLoadBalancerNodePorts'], stopsBalancing],
  [['loadBalancerClass'], stopsBalancing],
  [['externalTrafficPolicy'], (service, old) => isExternallyAccessible(old) && !isExternallyAccessible(service)],
];

/** Removes fields that no longer apply to the service's new type and might have been set by the server (dropTypeDependentFields). */
export function withoutUnsuitableFields(service: ApiObject, old: ApiObject): ApiObject {
  const isSame = (field: string) => isSameValue(valueAt(service, 'spec', field), valueAt(old, 'spec', field));
  const removed = REMOVED.filter(([fields, applies]) => applies(service, old) && fields.every(isSame));
  const fields = removed.flatMap(([names]) => names);
  const object = fields.reduce((result, field) => withValue(result, ['spec', field], undefined), service);
  const withPorts = withoutNodePorts(object, old);
  return isLoadBalancer(service) ? withPorts : withValue(withPorts, ['status', 'loadBalancer'], {});
}

function withoutNodePorts(service: ApiObject, old: ApiObject): ApiObject {
  const applies = hasNodePorts(old) && !hasNodePorts(service);
  if (!applies || hasNewNodePorts(service, old)) return service;
  return withItems(service, ['spec', 'ports'], ({ nodePort: _, ...port }) => port);
}

const hasNewNodePorts = (service: ApiObject, old: ApiObject): boolean => {
  const oldPorts = nodePortsOf(old);
  return [...nodePortsOf(service)].some((port) => !oldPorts.has(port));
};
