/** Load balancer status of services and ingresses. */
import { validateLegacyIp } from '../address-rules.ts';
import { parseIp } from '../addresses.ts';
import type { ApiObject } from '../api-object.ts';
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../field-error.ts';
import { isDnsSubdomain } from '../rules.ts';
import { type JsonObject, objectsAt, textAt } from '../values.ts';
import { isLoadBalancer } from './service-fields.ts';

const FIELD = 'status.loadBalancer.ingress';
const MODES = ['Proxy', 'VIP'];

/** Validates a service's load balancer status (ValidateLoadBalancerStatus). */
export function validateServiceStatus(service: ApiObject, old: ApiObject): FieldError[] {
  const ingress = ingressOf(service);
  if (!isLoadBalancer(service) && ingress.length > 0)
    return [forbiddenField(FIELD, "may only be used when `spec.type` is 'LoadBalancer'")];
  return ingress.flatMap((one, index) => [
    ...validateIp(`${FIELD}[${index}].ip`, one, old),
    ...validateMode(`${FIELD}[${index}].ipMode`, one),
    ...validateHostname(`${FIELD}[${index}].hostname`, one),
  ]);
}

/** Validates an Ingress's load balancer status (ValidateIngressLoadBalancerStatus). */
export function validateIngressStatus(object: ApiObject, old: ApiObject): FieldError[] {
  return ingressOf(object).flatMap((one, index) => [
    ...validateIp(`${FIELD}[${index}].ip`, one, old),
    ...validateHostname(`${FIELD}[${index}].hostname`, one),
  ]);
}

const ingressOf = (object: ApiObject): readonly JsonObject[] => objectsAt(object, 'status', 'loadBalancer', 'ingress');

function validateIp(field: string, ingress: JsonObject, old: ApiObject): FieldError[] {
  const ip = textAt(ingress, 'ip');
  const existing = ingressOf(old).map((one) => textAt(one, 'ip'));
  return ip === '' ? [] : validateLegacyIp(field, ip, existing);
}

function validateMode(field: string, ingress: JsonObject): FieldError[] {
  const hasIp = textAt(ingress, 'ip') !== '';
  const mode = ingress.ipMode;
  if (mode === undefined) return hasIp ? [required(field, 'must be specified when `ip` is set')] : [];
  if (!hasIp) return [forbiddenField(field, 'may not be specified when `ip` is not set')];
  return MODES.includes(String(mode)) ? [] : [notSupported(field, mode, MODES)];
}

function validateHostname(field: string, ingress: JsonObject): FieldError[] {
  const hostname = textAt(ingress, 'hostname');
  if (hostname === '') return [];
  const isIp = parseIp(hostname) !== undefined;
  return [
    ...isDnsSubdomain(field, hostname),
    ...(isIp ? [invalidValue(field, hostname, 'must be a DNS name, not an IP address')] : []),
  ];
}
