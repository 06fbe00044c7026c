/** Sorts resources into API groups and versions for discovery, in upstream's order. */
import { compareVersions, type JsonObject, type Resource } from '@podwright/kube-schema';
import { type ApiPriority, priorityOf } from './api-priorities.ts';

/** A group version that is served by an extension API server and registered by an APIService. */
export type ExtensionVersion = {
  group: string;
  version: string;
  priority: ApiPriority;
  /** The resources, as entries of aggregated discovery. */
  resources: readonly JsonObject[];
  /** Whether the last attempt to read the group version's discovery document succeeded. If not, `resources` is stale. */
  isCurrent: boolean;
  /** Path and query of the group version's OpenAPI v3 document on the extension API server; `undefined` if there is none. */
  openApiUrl?: string;
  /** The same for the document that describes the discovery of the group. */
  openApiGroupUrl?: string;
  /** The part of the extension API server's OpenAPI v2 document that describes the group version; `undefined` if there is none. */
  openApiV2?: { hash: string; document: JsonObject };
};

export type GroupVersion = {
  group: string;
  version: string;
  /** The resources of the group version; empty if an extension API server serves it. */
  resources: readonly Resource[];
  extension?: ExtensionVersion;
};

export type ApiGroup = {
  /** The group's name; '' for the core group. */
  name: string;
  /** The group's versions, preferred version first. */
  versions: readonly GroupVersion[];
};

/**
 * Returns the groups in the order of aggregated discovery: by priority, then by name. Clients that only have a kind or resource name use
 * the first group that contains it. A version served by an extension API server replaces this server's own.
 */
export function groupsOf(resources: readonly Resource[], extensions: readonly ExtensionVersion[] = []): ApiGroup[] {
  const versions = new Map<string, GroupVersion>();
  for (const [name, members] of Map.groupBy(resources, nameOf)) {
    const { group, version } = members[0]!;
    versions.set(name, { group, version, resources: members.toSorted((a, b) => compareText(a.plural, b.plural)) });
  }
  for (const extension of extensions) {
    const { group, version } = extension;
    versions.set(nameOf(extension), { group, version, resources: [], extension });
  }
  return [...Map.groupBy(versions.values(), ({ group }) => group)]
    .map(([name, members]) => ({ name, versions: members.sort(compareInGroup) }))
    .sort((a, b) => groupPriority(b) - groupPriority(a) || compareText(a.name, b.name));
}

/** Returns the groups in the order of unaggregated discovery: by priority, then by the name of the first APIService. */
export const inLegacyOrder = (groups: readonly ApiGroup[]): ApiGroup[] =>
  groups.toSorted((a, b) => groupPriority(b) - groupPriority(a) || compareText(serviceName(a), serviceName(b)));

/** Returns the alphabetically first name among the group's APIServices with the highest priority. */
function serviceName(group: ApiGroup): string {
  const highest = groupPriority(group);
  const first = group.versions.filter((one) => priorityIn(one).group === highest);
  return first.map(nameOf).sort(compareText)[0]!;
}

const nameOf = ({ group, version }: { group: string; version: string }): string => `${version}.${group}`;

const priorityIn = ({ extension, group, version, resources }: GroupVersion): ApiPriority =>
  extension?.priority ?? priorityOf({ group, version, isCustom: resources.every((one) => one.isCustom) });

const groupPriority = ({ versions }: ApiGroup): number => Math.max(...versions.map((one) => priorityIn(one).group));

const compareInGroup = (a: GroupVersion, b: GroupVersion): number =>
  priorityIn(b).version - priorityIn(a).version || compareVersions(b.version, a.version);

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Whether upstream serves the resource by default. Only stable versions are. */
export const isServedByDefault = ({ version, isCustom }: Resource): boolean =>
  isCustom === true || /^v\d+$/.test(version);
