/** Validates the load balancer settings and traffic policies of services. */
import type { ApiObject } from '../api-object.ts';
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../field-error.ts';
import { qualifiedNameProblems } from '../names.ts';
import { problemsAt } from '../rules.ts';
import { numberAt, textAt, valueAt } from '../values.ts';
import { validatePortNumber } from './ports.ts';
import { isExternallyAccessible, isLoadBalancer, needsHealthCheck, typeOf } from './service-fields.ts';

const POLICIES = ['Cluster', 'Local'];
const DISTRIBUTIONS = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];
const HEALTH_CHECK_ONLY = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";

export function validateClass(service: ApiObject): FieldError[] {
  const field = 'spec.loadBalancerClass';
  if (valueAt(service, 'spec', 'loadBalancerClass') === undefined) return [];
  if (!isLoadBalancer(service)) return [forbiddenField(field, "may only be used when `type` is 'LoadBalancer'")];
  const name = textAt(service, 'spec', 'loadBalancerClass');
  return problemsAt(field, name, qualifiedNameProblems(name));
}

export const validateTrafficPolicies = (service: ApiObject): FieldError[] => [
  ...validateExternalPolicy(service),
  ...validateHealthCheckPort(service),
  ...validateInternalPolicy(service),
  ...validateDistribution(service),
];

function validateExternalPolicy(service: ApiObject): FieldError[] {
  const field = 'spec.externalTrafficPolicy';
  const policy = textAt(service, 'spec', 'externalTrafficPolicy');
  if (!isExternallyAccessible(service))
    return policy === '' ? [] : [invalidValue(field, policy, 'may only be set for externally-accessible services')];
  if (policy === '') return [required(field)];
  return POLICIES.includes(policy) ? [] : [notSupported(field, policy, POLICIES)];
}

function validateHealthCheckPort(service: ApiObject): FieldError[] {
  const field = 'spec.healthCheckNodePort';
  const port = numberAt(service, 'spec', 'healthCheckNodePort') ?? 0;
  if (!needsHealthCheck(service)) return port === 0 ? [] : [invalidValue(field, port, HEALTH_CHECK_ONLY)];
  return port === 0 ? [required(field)] : validatePortNumber(field, port);
}

function validateInternalPolicy(service: ApiObject): FieldError[] {
  const field = 'spec.internalTrafficPolicy';
  const policy = textAt(service, 'spec', 'internalTrafficPolicy');
  if (valueAt(service, 'spec', 'internalTrafficPolicy') === undefined) {
    const isRequired = ['NodePort', 'LoadBalancer', 'ClusterIP'].includes(typeOf(service));
    return isRequired ? [required(field)] : [];
  }
  return POLICIES.includes(policy) ? [] : [notSupported(field, policy, POLICIES)];
}

function validateDistribution(service: ApiObject): FieldError[] {
  const distribution = textAt(service, 'spec', 'trafficDistribution');
  const isAbsent = valueAt(service, 'spec', 'trafficDistribution') === undefined;
  if (isAbsent || DISTRIBUTIONS.includes(distribution)) return [];
  return [notSupported('spec.trafficDistribution', distribution, DISTRIBUTIONS)];
}
