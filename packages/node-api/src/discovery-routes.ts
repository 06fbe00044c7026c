import { VERSION } from '@podwright/base';
import { type Route, sendJson } from '@podwright/kubelet-server';

/** A resource as served by the discovery API. */
export type DiscoveredResource = {
  kind: string;
  apiVersion: string;
  plural: string;
  /** Default: the lowercased kind; '' for a subresource. */
  singular?: string;
  shortNames: string[];
  namespaced: boolean;
  verbs: string[];
};

/** Serves the discovery API: the groups, versions and resources that Kubernetes clients look up. */
export function discoveryRoutes(resources: DiscoveredResource[]): Route[] {
  const versions = [...new Set(resources.map(({ apiVersion }) => apiVersion))];
  const groups = Map.groupBy(
    versions.filter((version) => version.includes('/')),
    (version) => version.split('/')[0]!,
  );
  const answer = (path: string, value: object): Route => ({
    method: 'GET',
    path,
    handler: async ({ response }) => sendJson(response, value),
  });
  return [
    answer('/version', { major: '1', minor: '36', gitVersion: `v1.36.0+podwright.${VERSION}`, platform: 'linux' }),
    answer('/api', { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] }),
    answer('/apis', { kind: 'APIGroupList', apiVersion: 'v1', groups: [...groups].map(groupOf) }),
    ...versions.map((version) =>
      answer(version.includes('/') ? `/apis/${version}` : `/api/${version}`, resourceList(version, resources)),
    ),
  ];
}

/** Returns the APIGroup of a group; its first version is the preferred one. */
function groupOf([name, groupVersions]: [string, string[]]): object {
  const versions = groupVersions.map((groupVersion) => ({
    groupVersion,
    version: groupVersion.slice(name.length + 1),
  }));
  return { name, versions, preferredVersion: versions[0] };
}

function resourceList(groupVersion: string, resources: DiscoveredResource[]): object {
  const own = resources.filter(({ apiVersion }) => apiVersion === groupVersion);
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion,
    resources: own.map(({ kind, plural, singular = kind.toLowerCase(), shortNames, namespaced, verbs }) => ({
      name: plural,
      singularName: singular,
      namespaced,
      kind,
      verbs,
      shortNames,
    })),
  };
}
