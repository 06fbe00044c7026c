/** The order of group versions in discovery (upstream, controlplane/apiserver/aggregator.go and kube-apiserver/app/aggregator.go). */

/** The priorities of a group version, as in the spec of an APIService: higher numbers come first. */
export type ApiPriority = {
  /** Priority of the group among all groups. */
  group: number;
  /** Priority of the version within its group. */
  version: number;
};

/** A priority higher than any that an APIService can have, for the group that must sort first. */
const REGISTRATION_PRIORITY = 20_001;

const GROUPS: Readonly<Record<string, number>> = {
  '': 18_000,
  'apiregistration.k8s.io': REGISTRATION_PRIORITY,
  apps: 17_800,
  'events.k8s.io': 17_750,
  'authentication.k8s.io': 17_700,
  'authorization.k8s.io': 17_600,
  autoscaling: 17_500,
  batch: 17_400,
  'certificates.k8s.io': 17_300,
  'networking.k8s.io': 17_200,
  policy: 17_100,
  'rbac.authorization.k8s.io': 17_000,
  'storage.k8s.io': 16_800,
  'admissionregistration.k8s.io': 16_700,
  'apiextensions.k8s.io': 16_700,
  'scheduling.k8s.io': 16_600,
  'coordination.k8s.io': 16_500,
  'node.k8s.io': 16_300,
  'discovery.k8s.io': 16_200,
  'resource.k8s.io': 16_200,
  'flowcontrol.apiserver.k8s.io': 16_100,
  'internal.apiserver.k8s.io': 16_000,
  'storagemigration.k8s.io': 15_800,
};

/** Priorities of the stable versions that differ from `STABLE_VERSION`. */
const VERSIONS: Readonly<Record<string, number>> = {
  '/v1': 1,
  'autoscaling/v2': 30,
  'flowcontrol.apiserver.k8s.io/v1': 21,
  'resource.k8s.io/v1': 21,
};
const STABLE_VERSION = 15;

const CUSTOM: ApiPriority = { group: 1000, version: 100 };

/** Priorities of `metrics.k8s.io`, as set by metrics-server. */
const USAGE: ApiPriority = { group: 100, version: 100 };

type ServedVersion = { group: string; version: string; isCustom?: boolean };

/** Returns the priorities of a group version that is served by this server itself. */
export function priorityOf({ group, version, isCustom = false }: ServedVersion): ApiPriority {
  if (isCustom) return CUSTOM;
  const priority = Object.hasOwn(GROUPS, group) ? GROUPS[group] : undefined;
  if (priority === undefined) return USAGE;
  const name = `${group}/${version}`;
  return { group: priority, version: Object.hasOwn(VERSIONS, name) ? VERSIONS[name]! : STABLE_VERSION };
}
