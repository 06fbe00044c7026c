/**
 * Lists that a strategic merge patch merges, as annotated in upstream's types; all others are replaced. A rule is found by the field and
 * its parent field, without list indexes: among the kinds here these names are unique, or have the same rule.
 */

/** `key`: the field that identifies elements; absent for sets of scalars. */
export type MergeRule = { key?: string };

const byKey = (key: string): MergeRule => ({ key });

const RULES: Record<string, MergeRule> = {
  'status.conditions': byKey('type'),
  'status.addresses': byKey('type'),
  'status.podIPs': byKey('ip'),
  'status.hostIPs': byKey('ip'),
  'status.resourceClaimStatuses': byKey('name'),
  'status.reservedFor': byKey('uid'),
  'spec.containers': byKey('name'),
  'spec.initContainers': byKey('name'),
  'spec.ephemeralContainers': byKey('name'),
  'spec.volumes': byKey('name'),
  'spec.imagePullSecrets': byKey('name'),
  'spec.schedulingGates': byKey('name'),
  'spec.resourceClaims': byKey('name'),
  'spec.drivers': byKey('name'),
  'spec.hostAliases': byKey('ip'),
  'spec.topologySpreadConstraints': byKey('topologyKey'),
  'spec.ports': byKey('port'),
  'spec.podCIDRs': {},
  'containers.ports': byKey('containerPort'),
  'initContainers.ports': byKey('containerPort'),
  'ephemeralContainers.ports': byKey('containerPort'),
  '.secrets': byKey('name'),
  '.imagePullSecrets': byKey('name'),
  'metadata.ownerReferences': byKey('uid'),
  'metadata.finalizers': {},
};

const IN_CONTAINERS: Record<string, MergeRule> = {
  env: byKey('name'),
  volumeMounts: byKey('mountPath'),
  volumeDevices: byKey('devicePath'),
};
const CONTAINER_LISTS = ['containers', 'initContainers', 'ephemeralContainers'];

/** Kinds whose conditions are replaced as a whole. */
const ATOMIC_CONDITIONS = ['CertificateSigningRequest'];
/** Top-level `secrets` and `imagePullSecrets` belong to service accounts. */
const TOP_LISTS = ['ServiceAccount'];

/** The merge rule of the list at a path of fields; undefined if it is replaced. */
export function mergeRule(kind: string, path: readonly string[]): MergeRule | undefined {
  const field = path.at(-1)!;
  const above = path.at(-2) ?? '';
  if (field === 'conditions' && ATOMIC_CONDITIONS.includes(kind)) return undefined;
  if (above === '' && !TOP_LISTS.includes(kind)) return undefined;
  if (CONTAINER_LISTS.includes(above) && Object.hasOwn(IN_CONTAINERS, field)) return IN_CONTAINERS[field];
  const name = `${above}.${field}`;
  return Object.hasOwn(RULES, name) ? RULES[name] : undefined;
}
