import { cidrWarnings, ipWarnings } from '../address-rules.ts';
import type { ApiObject } from '../api-object.ts';
import { textAt, textsAt } from '../values.ts';
import { clusterIpsOf, isExternalName, NO_CLUSTER_IP, typeOf } from './service-fields.ts';
import { annotationOf } from './status.ts';

const HINTS = 'service.kubernetes.io/topology-aware-hints';
const MODE = 'service.kubernetes.io/topology-mode';

/** Returns the warnings about a service (GetWarningsForService). */
export function serviceWarnings(service: ApiObject): string[] {
  const text = (field: string) => textAt(service, 'spec', field);
  const ip = text('clusterIP');
  const isHeadless = typeOf(service) === 'ClusterIP' && ip === NO_CLUSTER_IP;
  const isIpSet = ip !== '' && ip !== NO_CLUSTER_IP;
  const externalIps = textsAt(service, 'spec', 'externalIPs');
  const ranges = textsAt(service, 'spec', 'loadBalancerSourceRanges');
  return [
    ...when(
      annotationOf(service, HINTS) !== undefined,
      `annotation ${HINTS} is deprecated, please use ${MODE} instead`,
    ),
    ...(isIpSet ? ipListWarnings('clusterIPs', clusterIpsOf(service)) : []),
    ...(isHeadless ? headlessWarnings(service, externalIps) : []),
    ...ipListWarnings('externalIPs', externalIps),
    ...when(
      externalIps.length > 0 && !isHeadless && !isExternalName(service),
      'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
    ),
    ...ipWarnings('spec.loadBalancerIP', text('loadBalancerIP')),
    ...ranges.flatMap((range, index) => cidrWarnings(`spec.loadBalancerSourceRanges[${index}]`, range)),
    ...when(
      isExternalName(service) && externalIps.length > 0,
      'spec.externalIPs is ignored when spec.type is "ExternalName"',
    ),
    ...when(
      !isExternalName(service) && text('externalName') !== '',
      'spec.externalName is ignored when spec.type is not "ExternalName"',
    ),
    ...when(
      text('trafficDistribution') === 'PreferClose',
      'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
    ),
  ];
}

const when = (condition: boolean, warning: string): string[] => (condition ? [warning] : []);

const ipListWarnings = (field: string, ips: readonly string[]): string[] =>
  ips.flatMap((ip, index) => ipWarnings(`spec.${field}[${index}]`, ip));

const headlessWarnings = (service: ApiObject, externalIps: readonly string[]): string[] => [
  ...when(textAt(service, 'spec', 'loadBalancerIP') !== '', 'spec.loadBalancerIP is ignored for headless services'),
  ...when(externalIps.length > 0, 'spec.externalIPs is ignored for headless services'),
  ...when(
    textAt(service, 'spec', 'sessionAffinity') !== 'None',
    'spec.SessionAffinity is ignored for headless services',
  ),
];
