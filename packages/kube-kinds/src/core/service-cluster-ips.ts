/** Validates the cluster IPs and IP families of services (ValidateServiceClusterIPsRelatedFields). */
import { validateLegacyIp } from '../address-rules.ts';
import { parseIp } from '../addresses.ts';
import type { ApiObject } from '../api-object.ts';
import { duplicate, type FieldError, invalidValue, notSupported, required } from '../field-error.ts';
import { textAt } from '../values.ts';
import { clusterIpsOf, familiesOf, isExternalName, isHeadless, NO_CLUSTER_IP, policyOf } from './service-fields.ts';

const FIELD = 'spec.clusterIPs';
const FAMILIES = ['IPv4', 'IPv6'];
const POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];

/** Validates the cluster IPs to the extent possible without knowing the configured service IP ranges. */
export function validateClusterIps(service: ApiObject, old: ApiObject | undefined): FieldError[] {
  if (isExternalName(service)) return [];
  const policy = policyOf(service);
  const ips = clusterIpsOf(service);
  const invalid = validateEach(ips, old);
  const errors = [
    ...validateFirst(service),
    ...validateFamilies(familiesOf(service)),
    ...(policy === '' || POLICIES.includes(policy) ? [] : [notSupported('spec.ipFamilyPolicy', policy, POLICIES)]),
    ...invalid,
    ...(ips.length > 2 ? [invalidValue(FIELD, ips, 'may only hold up to 2 values')] : []),
  ];
  return invalid.length > 0 ? errors : [...errors, ...validateDualStack(service)];
}

function validateFirst(service: ApiObject): FieldError[] {
  const ip = textAt(service, 'spec', 'clusterIP');
  const ips = clusterIpsOf(service);
  if (ip === '' && ips.length > 0) return [invalidValue(FIELD, ips, 'must be empty when `clusterIP` is not specified')];
  if (ip === '' || ips[0] === ip) return [];
  return ips.length === 0 ? [required(FIELD)] : [invalidValue(FIELD, ips, 'first value must match `clusterIP`')];
}

function validateFamilies(families: readonly string[]): FieldError[] {
  return families.flatMap((family, index) => {
    const field = `spec.ipFamilies[${index}]`;
    return [
      ...(FAMILIES.includes(family) ? [] : [notSupported(field, family, FAMILIES)]),
      ...(families.indexOf(family) < index ? [duplicate(field, family)] : []),
    ];
  });
}

function validateEach(ips: readonly string[], old: ApiObject | undefined): FieldError[] {
  const existing = old === undefined ? [] : clusterIpsOf(old);
  return ips.flatMap((ip, index) => {
    if (index > 0 || ip !== NO_CLUSTER_IP) return validateLegacyIp(`${FIELD}[${index}]`, ip, existing);
    return ips.length > 1 ? [invalidValue(FIELD, ips, "'None' must be the first and only value")] : [];
  });
}

function validateDualStack(service: ApiObject): FieldError[] {
  const ips = clusterIpsOf(service);
  const families = ips.map((ip) => parseIp(ip)?.family);
  const isPair = new Set(families).size > 1;
  const errors =
    ips.length > 1 && !isPair ? [invalidValue(FIELD, ips, 'may specify no more than one IP for each IP family')] : [];
  if (isHeadless(service)) return errors;
  const requested = familiesOf(service);
  const mismatches = ips.flatMap((ip, index) => {
    const family = requested[index];
    if (family === undefined || !FAMILIES.includes(family) || family === families[index]) return [];
    return [
      invalidValue(`${FIELD}[${index}]`, ip, `expected an ${family} value as indicated by \`ipFamilies[${index}]\``),
    ];
  });
  return [...errors, ...mismatches];
}
