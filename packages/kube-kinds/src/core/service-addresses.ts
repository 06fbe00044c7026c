/** External addresses of services. */
import { validateLegacyCidr, validateLegacyIp } from '../address-rules.ts';
import type { ApiObject } from '../api-object.ts';
import { type FieldError, forbiddenField } from '../field-error.ts';
import { textsAt } from '../values.ts';
import { validateEndpointIp } from './endpoint-ip.ts';
import { isLoadBalancer } from './service-fields.ts';
import { annotationOf } from './status.ts';

const RANGES = 'service.beta.kubernetes.io/load-balancer-source-ranges';
const LOAD_BALANCER_ONLY = "may only be used when `type` is 'LoadBalancer'";

/** Validates the external IPs. Addresses already in the old service are accepted in any form. */
export function validateExternalIps(service: ApiObject, old: ApiObject | undefined): FieldError[] {
  const existing = textsAt(old, 'spec', 'externalIPs');
  return textsAt(service, 'spec', 'externalIPs').flatMap((ip, index) => {
    const field = `spec.externalIPs[${index}]`;
    const errors = validateLegacyIp(field, ip, existing);
    return errors.length > 0 ? errors : validateEndpointIp(field, ip);
  });
}

/** Validates the load balancer source ranges. They are in a field or, for old clients, in an annotation. */
export function validateSourceRanges(service: ApiObject, old: ApiObject | undefined): FieldError[] {
  const ranges = textsAt(service, 'spec', 'loadBalancerSourceRanges');
  const annotation = annotationOf(service, RANGES);
  if (ranges.length > 0) {
    const field = 'spec.LoadBalancerSourceRanges';
    const existing = textsAt(old, 'spec', 'loadBalancerSourceRanges').map((range) => range.trim());
    const errors = ranges.flatMap((range, index) => validateLegacyCidr(`${field}[${index}]`, range.trim(), existing));
    return [...onlyLoadBalancer(service, field), ...errors];
  }
  if (annotation === undefined) return [];
  const field = `metadata.annotations[${RANGES}]`;
  const isOld = old !== undefined && annotationOf(old, RANGES) === annotation;
  const items = isOld || annotation.trim() === '' ? [] : annotation.trim().split(',');
  return [...onlyLoadBalancer(service, field), ...items.flatMap((item) => validateLegacyCidr(field, item.trim()))];
}

const onlyLoadBalancer = (service: ApiObject, field: string): FieldError[] =>
  isLoadBalancer(service) ? [] : [forbiddenField(field, LOAD_BALANCER_ONLY)];
