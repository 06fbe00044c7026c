/** The IP families of services (registry/core/service: initIPFamilyFields). */
import { parseIp } from '../addresses.ts';
import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue } from '../field-error.ts';
import { isSameValue, objectAt, textAt, withValue } from '../values.ts';
import { validateClusterIps } from './service-cluster-ips.ts';
import { POLICY_FIELD, validateReduction, validateSingle } from './service-family-policy.ts';
import { clusterIpsOf, familiesOf, isExternalName, NO_CLUSTER_IP, policyOf, typeOf } from './service-fields.ts';

type IpFamily = 'IPv4' | 'IPv6';

export type ChosenFamilies = { service: ApiObject; errors: readonly FieldError[] };

/**
 * Sets `ipFamilyPolicy` and `ipFamilies` of a prepared service, which then needs one cluster IP per family. `configured` lists the families
 * of the configured service IP ranges, default first. `old` is `undefined` for a new service.
 */
export function chooseIpFamilies(
  service: ApiObject,
  old: ApiObject | undefined,
  configured: readonly [IpFamily, ...IpFamily[]],
): ChosenFamilies {
  if (isExternalName(service) || (old !== undefined && retainsFamilies(service, old))) return { service, errors: [] };
  const withPolicy = withDefaultPolicy(service, old);
  const invalid = validateClusterIps(withPolicy, old);
  if (invalid.length > 0) return { service: withPolicy, errors: invalid };
  const reduced = old === undefined ? withPolicy : withoutReleased(withPolicy, old);
  const inferred = inferFamilies(reduced, configured);
  const errors = [
    ...(old === undefined ? [] : validateReduction(reduced, old)),
    ...validateSingle(reduced),
    ...inferred.errors,
  ];
  if (errors.length > 0) return { service: inferred.service, errors };
  return isSelectorless(service)
    ? completeSelectorless(inferred.service, configured)
    : complete(inferred.service, configured);
}

/**
 * Returns true if an updated service keeps its IP families. With policy PreferDualStack, it keeps them even if the configured service IP
 * ranges have changed.
 */
function retainsFamilies(service: ApiObject, old: ApiObject): boolean {
  const prefers = (one: ApiObject, absent: boolean) =>
    policyOf(one) === 'PreferDualStack' || (absent && policyOf(one) === '');
  return (
    typeOf(service) === typeOf(old) &&
    ['ClusterIP', 'NodePort', 'LoadBalancer'].includes(typeOf(service)) &&
    prefers(service, false) &&
    prefers(old, true) &&
    isSameValue(clusterIpsOf(service), clusterIpsOf(old)) &&
    isSameValue(familiesOf(service), familiesOf(old))
  );
}

/** Returns true for a headless service without a selector, which can have endpoints of any IP family. */
const isSelectorless = (service: ApiObject): boolean =>
  textAt(service, 'spec', 'clusterIP') === NO_CLUSTER_IP &&
  Object.keys(objectAt(service, 'spec', 'selector') ?? {}).length === 0;

function withDefaultPolicy(service: ApiObject, old: ApiObject | undefined): ApiObject {
  if (policyOf(service) !== '') return service;
  const oldPolicy = old === undefined ? '' : policyOf(old);
  const policy = oldPolicy || (isSelectorless(service) ? 'RequireDualStack' : 'SingleStack');
  return withValue(service, ['spec', 'ipFamilyPolicy'], policy);
}

/** With policy SingleStack, truncates `clusterIPs` and `ipFamilies` to their first element, unless the client changed them. */
function withoutReleased(service: ApiObject, old: ApiObject): ApiObject {
  if (policyOf(service) !== 'SingleStack') return service;
  const lists = { clusterIPs: clusterIpsOf, ipFamilies: familiesOf };
  return Object.entries(lists).reduce((object, [field, listOf]) => {
    const isSame = isSameValue(listOf(object), listOf(old));
    return isSame && listOf(object).length > 1
      ? withValue(object, ['spec', field], listOf(object).slice(0, 1))
      : object;
  }, service);
}

/** Appends the families of the requested cluster IPs to `ipFamilies`, unless the client has set them. */
function inferFamilies(service: ApiObject, configured: readonly IpFamily[]): ChosenFamilies {
  const ips = clusterIpsOf(service);
  const families = [...familiesOf(service)];
  const errors: FieldError[] = [];
  for (const [index, ip] of ips.entries()) {
    if (ip === NO_CLUSTER_IP) break;
    const family = parseIp(ip)?.family ?? 'IPv4';
    if (index < families.length) continue;
    if (configured.includes(family)) families.push(family);
    else errors.push(invalidValue(`spec.clusterIPs[${index}]`, ips, `${family} is not configured on this cluster`));
  }
  return { service: withFamilies(service, families), errors };
}

const withFamilies = (service: ApiObject, families: readonly string[]): ApiObject =>
  families.length === 0 ? service : withValue(service, ['spec', 'ipFamilies'], families);

const otherFamily = (family: string): IpFamily => (family === 'IPv4' ? 'IPv6' : 'IPv4');

function completeSelectorless(service: ApiObject, configured: readonly [IpFamily, ...IpFamily[]]): ChosenFamilies {
  const given = familiesOf(service);
  const families = given.length === 0 ? [configured[0]] : given;
  const needsOther = families.length < 2 && policyOf(service) !== 'SingleStack';
  return {
    service: withFamilies(service, needsOther ? [...families, otherFamily(families[0]!)] : families),
    errors: [],
  };
}

function complete(service: ApiObject, configured: readonly [IpFamily, ...IpFamily[]]): ChosenFamilies {
  const policy = policyOf(service);
  const given = familiesOf(service);
  const isDual = configured.length > 1;
  const errors = [
    ...(policy === 'RequireDualStack' && !isDual
      ? [invalidValue(POLICY_FIELD, policy, 'this cluster is not configured for dual-stack services')]
      : []),
    ...given.flatMap((family, index) =>
      configured.some((one) => one === family)
        ? []
        : [invalidValue(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster')],
    ),
  ];
  if (errors.length > 0) return { service, errors };
  const families = given.length === 0 ? [configured[0]] : given;
  const needsOther = policy !== 'SingleStack' && families.length === 1 && isDual;
  return {
    service: withFamilies(service, needsOther ? [...families, otherFamily(families[0]!)] : families),
    errors: [],
  };
}
