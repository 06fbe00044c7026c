/** Validates service updates. */
import type { ApiObject } from '../api-object.ts';
import { type FieldError, forbiddenField, invalidValue } from '../field-error.ts';
import { numberAt, valueAt } from '../values.ts';
import {
  clusterIpsOf,
  familiesOf,
  isExternalName,
  isHeadless,
  isLoadBalancer,
  needsHealthCheck,
  policyOf,
} from './service-fields.ts';
import { validateClass } from './service-traffic.ts';

const FIXED = 'may not change once set';

/** Validates the change from the old to the new service. The new service is also validated on its own. */
export const validateServiceChange = (service: ApiObject, old: ApiObject): FieldError[] => [
  ...validateIpChange(service, old),
  ...validateFamilyChange(service, old),
  ...validateClassChange(service, old),
  ...validateClass(service),
  ...validateHealthCheckChange(service, old),
];

/**
 * The `clusterIPs` or `ipFamilies` of a service before and after an update. The first element is immutable; the second can be added and,
 * with policy SingleStack, removed.
 */
type FixedList = {
  values: readonly string[];
  old: readonly string[];
  /** Returns the field path of a changed element. */
  changedField: (index: number) => string;
  /** The list as shown in errors if the number of elements has changed. */
  shown: readonly string[];
  /** The errors to report if the client removed the first element. */
  unset: FieldError[];
  /** What messages call the second element. */
  second: string;
};

function validateIpChange(service: ApiObject, old: ApiObject): FieldError[] {
  if (isExternalName(service) || isExternalName(old) || (isHeadless(service) && isHeadless(old))) return [];
  const ips = clusterIpsOf(service);
  const unset =
    ips.length > 0 ? [] : [invalidValue('spec.clusterIPs[0]', undefined, 'primary clusterIP can not be unset')];
  const changedField = (index: number) => `spec.clusterIPs[${index}]`;
  const list = { values: ips, old: clusterIpsOf(old), changedField, shown: ips, unset, second: 'clusterIP' };
  return validateFixedList(service, list);
}

/** Validates a change of the IP families. They may change freely if the old or the new service is headless or of type ExternalName. */
function validateFamilyChange(service: ApiObject, old: ApiObject): FieldError[] {
  if (isExternalName(service) || isExternalName(old) || isHeadless(service) || isHeadless(old)) return [];
  const families = familiesOf(service);
  const ips = clusterIpsOf(service);
  const field = 'spec.ipFamilies[0]';
  const unset = ips.length > 0 ? [] : [invalidValue(field, families, 'primary ipFamily can not be unset')];
  const list = {
    values: families,
    old: familiesOf(old),
    changedField: () => field,
    shown: ips,
    unset,
    second: 'ipFamily',
  };
  return validateFixedList(service, list);
}

function validateFixedList(service: ApiObject, list: FixedList): FieldError[] {
  const { values, old, changedField, shown } = list;
  if (values.length === old.length)
    return old.flatMap((value, index) =>
      value === values[index] ? [] : [invalidValue(changedField(index), values, FIXED)],
    );
  const isChanged = old.length > 0 && values.length > 0 && values[0] !== old[0];
  const changed = isChanged ? [invalidValue(changedField(0), shown, FIXED)] : [];
  if (values.length > old.length) return changed;
  const mustBeSingle = values.length === 1 && policyOf(service) !== 'SingleStack';
  const policy = valueAt(service, 'spec', 'ipFamilyPolicy');
  const detail = `must be set to 'SingleStack' when releasing the secondary ${list.second}`;
  return [...list.unset, ...changed, ...(mustBeSingle ? [invalidValue('spec.ipFamilyPolicy', policy, detail)] : [])];
}

function validateClassChange(service: ApiObject, old: ApiObject): FieldError[] {
  const [name, oldName] = [valueAt(service, 'spec', 'loadBalancerClass'), valueAt(old, 'spec', 'loadBalancerClass')];
  if (!isLoadBalancer(service) || !isLoadBalancer(old) || name === oldName) return [];
  return [invalidValue('spec.loadBalancerClass', name, FIXED)];
}

function validateHealthCheckChange(service: ApiObject, old: ApiObject): FieldError[] {
  const portOf = (object: ApiObject) => numberAt(object, 'spec', 'healthCheckNodePort') ?? 0;
  const isChanged = needsHealthCheck(service) && needsHealthCheck(old) && portOf(service) !== portOf(old);
  return isChanged ? [forbiddenField('spec.healthCheckNodePort', 'field is immutable')] : [];
}
