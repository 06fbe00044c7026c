/** The group versions of the server as local APIServices. Clients check there whether `v1beta1.metrics.k8s.io` is available. */
import { formatTime } from '@podwright/kube-api';
import type { ApiObject } from '@podwright/kube-kinds';
import type { Resource } from '@podwright/kube-schema';
import type { ComputedResource } from '../server/computed-resource.ts';

const GROUP = 'apiregistration.k8s.io';

/** Returns the resource APIServices. `startMs` is the time from which they are available, as Unix time in milliseconds. */
export function apiServices(resources: () => readonly Resource[], startMs: number): ComputedResource {
  const resource: Resource = {
    ...{ group: GROUP, version: 'v1', plural: 'apiservices', kind: 'APIService', singular: 'apiservice' },
    ...{ namespaced: false, verbs: ['get', 'list'], categories: ['api-extensions'] },
  };
  return {
    resource,
    list: async ({ isAsked }) => {
      const versions = new Map(resources().map(({ group, version }) => [`${version}.${group}`, { group, version }]));
      return [...versions.keys()]
        .sort()
        .map((name) => apiService(name, versions.get(name)!, startMs))
        .filter(({ metadata }) => isAsked(metadata));
    },
  };
}

function apiService(name: string, { group, version }: { group: string; version: string }, startMs: number): ApiObject {
  const created = formatTime(startMs);
  const isLocal = { reason: 'Local', message: 'Local APIServices are always available' };
  return {
    apiVersion: `${GROUP}/v1`,
    kind: 'APIService',
    metadata: {
      name,
      creationTimestamp: created,
      labels: { 'kube-aggregator.kubernetes.io/automanaged': 'onstart' },
    },
    spec: { ...(group === '' ? {} : { group }), version, groupPriorityMinimum: 1000, versionPriority: 15 },
    status: { conditions: [{ type: 'Available', status: 'True', lastTransitionTime: created, ...isLocal }] },
  };
}
