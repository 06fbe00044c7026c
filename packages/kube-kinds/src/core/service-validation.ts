/** Validates services (core/validation: validateService). */
import type { ApiObject } from '../api-object.ts';
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../field-error.ts';
import { validateLabels } from '../labels.ts';
import { isDnsSubdomain } from '../rules.ts';
import { numberAt, objectAt, textAt, valueAt } from '../values.ts';
import { validateExternalIps, validateSourceRanges } from './service-addresses.ts';
import { validateClusterIps } from './service-cluster-ips.ts';
import {
  clusterIpsOf,
  familiesOf,
  isExternalName,
  isHeadless,
  isLoadBalancer,
  policyOf,
  portsOf,
  typeOf,
} from './service-fields.ts';
import { validatePorts, validatePortUniqueness } from './service-ports.ts';
import { validateClass, validateTrafficPolicies } from './service-traffic.ts';
import { annotationOf } from './status.ts';

const HINTS = 'service.kubernetes.io/topology-aware-hints';
const MODE = 'service.kubernetes.io/topology-mode';
const AFFINITIES = ['ClientIP', 'None'];
const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const MAX_AFFINITY_SECONDS = 86_400;

export function validateService(service: ApiObject, old: ApiObject | undefined): FieldError[] {
  const hasPorts = portsOf(service).length > 0 || isHeadless(service) || isExternalName(service);
  return [
    ...validateTopology(service),
    ...(hasPorts ? [] : [required('spec.ports')]),
    ...validateTypeFields(service),
    ...validatePorts(service),
    ...validateLabels('spec.selector', objectAt(service, 'spec', 'selector')),
    ...validateAffinity(service),
    ...validateClusterIps(service, old),
    ...validateExternalIps(service, old),
    ...validateType(service),
    ...validatePortUniqueness(service),
    ...validateSourceRanges(service, old),
    ...validateAllocation(service),
    ...validateClass(service),
    ...validateTrafficPolicies(service),
  ];
}

function validateTopology(service: ApiObject): FieldError[] {
  const [hints, mode] = [annotationOf(service, HINTS), annotationOf(service, MODE)];
  if (hints === undefined || mode === undefined || hints === mode) return [];
  const detail = `must match annotations[${HINTS}] when both are specified`;
  return [invalidValue(`metadata.annotations[${MODE}]`, mode, detail)];
}

function validateTypeFields(service: ApiObject): FieldError[] {
  if (isExternalName(service)) return validateExternalName(service);
  const type = typeOf(service);
  if (!isHeadless(service) || (type !== 'LoadBalancer' && type !== 'NodePort')) return [];
  return [invalidValue('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`)];
}

function validateExternalName(service: ApiObject): FieldError[] {
  const forbidden = (field: string, isSet: boolean) =>
    isSet ? [forbiddenField(`spec.${field}`, 'may not be set for ExternalName services')] : [];
  const name = textAt(service, 'spec', 'externalName').replace(/\.$/, '');
  return [
    ...forbidden('clusterIPs', clusterIpsOf(service).length > 0),
    ...forbidden('ipFamilies', familiesOf(service).length > 0),
    ...forbidden('ipFamilyPolicy', policyOf(service) !== ''),
    ...(name === '' ? [required('spec.externalName')] : isDnsSubdomain('spec.externalName', name)),
  ];
}

function validateAffinity(service: ApiObject): FieldError[] {
  const field = 'spec.sessionAffinity';
  const affinity = textAt(service, 'spec', 'sessionAffinity');
  if (affinity === '') return [required(field)];
  if (!AFFINITIES.includes(affinity)) return [notSupported(field, affinity, AFFINITIES)];
  const isConfigured = valueAt(service, 'spec', 'sessionAffinityConfig') !== undefined;
  if (affinity === 'ClientIP') return validateClientIp(service);
  return isConfigured ? [forbiddenField(`${field}Config`, 'must not be set when session affinity is None')] : [];
}

function validateClientIp(service: ApiObject): FieldError[] {
  const field = 'spec.sessionAffinityConfig';
  const when = `when session affinity type is ClientIP`;
  if (objectAt(service, 'spec', 'sessionAffinityConfig') === undefined) return [required(field, when)];
  if (objectAt(service, 'spec', 'sessionAffinityConfig', 'clientIP') === undefined)
    return [required(`${field}.clientIP`, when)];
  const seconds = numberAt(service, 'spec', 'sessionAffinityConfig', 'clientIP', 'timeoutSeconds');
  if (seconds === undefined) return [required(`${field}.clientIP.timeoutSeconds`, when)];
  if (seconds > 0 && seconds <= MAX_AFFINITY_SECONDS) return [];
  const detail = `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`;
  return [invalidValue(`${field}.clientIP.timeoutSeconds`, seconds, detail)];
}

function validateType(service: ApiObject): FieldError[] {
  const type = typeOf(service);
  if (type === '') return [required('spec.type')];
  return TYPES.includes(type) ? [] : [notSupported('spec.type', type, TYPES)];
}

function validateAllocation(service: ApiObject): FieldError[] {
  const isSet = valueAt(service, 'spec', 'allocateLoadBalancerNodePorts') !== undefined;
  if (isSet === isLoadBalancer(service)) return [];
  if (isSet)
    return [forbiddenField('spec.allocateLoadBalancerNodePorts', "may only be used when `type` is 'LoadBalancer'")];
  return [required('allocateLoadBalancerNodePorts')];
}
