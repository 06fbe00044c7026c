/**
 * Lists that a strategic merge patch merges, as upstream's types annotate them; all others are replaced. A rule is found by the
 * field and the field above it (elements of lists add nothing), as these names are used once, or alike, among the kinds here.
 */

/** `key`: the field that tells elements apart; absent for sets of scalars. */
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

/** Kinds whose conditions are one value. */
const ATOMIC_CONDITIONS = ['CertificateSigningRequest'];
/** `secrets` and `imagePullSecrets` at the top belong to a service account. */
const TOP_LISTS = ['ServiceAccount'];

/** How the list at a path of fields is merged, undefined if it is replaced. */
export function mergeRule(kind: string, path: readonly string[]): MergeRule | undefined {
  const field = path.at(-1)!;
  const above = path.at(-2) ?? '';
  if (field === 'conditions' && ATOMIC_CONDITIONS.includes(kind)) return undefined;
  if (above === '' && !TOP_LISTS.includes(kind)) return undefined;
  if (CONTAINER_LISTS.includes(above) && Object.hasOwn(IN_CONTAINERS, field)) return IN_CONTAINERS[field];
  const name = `${above}.${field}`;
  return Object.hasOwn(RULES, name) ? RULES[name] : undefined;
}
