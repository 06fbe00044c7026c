/**
 * Determines which local APIServices should exist (kube-aggregator, controllers/autoregister, and controlplane/apiserver/aggregator.go).
 */
import { priorityOf } from '@podwright/api-documents';
import { type ApiObject, isSameValue, objectAt } from '@podwright/kube-kinds';
import type { Resource } from '@podwright/kube-schema';

const GROUP = 'apiregistration.k8s.io';

/** Name of the label that specifies how the server manages an APIService. */
export const AUTOMANAGED = 'kube-aggregator.kubernetes.io/automanaged';

/**
 * `onstart`: created or restored once after each start. `true`: always restored. `vacant`: created unless an extension API server serves
 * the group.
 */
export type Management = 'onstart' | 'true' | 'vacant';

export type LocalService = { object: ApiObject; management: Management };

type Served = {
  builtIn: readonly Resource[];
  custom: readonly Resource[];
  /** Computed resources, such as `pods.metrics.k8s.io`, that an extension API server may serve instead of this server. */
  replaceable: readonly Resource[];
};

/** Returns the local APIServices by name. */
export function localServices({ builtIn, custom, replaceable }: Served): Map<string, LocalService> {
  const services = new Map<string, LocalService>();
  const add = (resources: readonly Resource[], management: Management) => {
    for (const resource of resources) {
      if (resource.group === GROUP) continue; // always first, so it needs none
      const object = localService(resource, management);
      services.set(object.metadata.name!, { object, management });
    }
  };
  add(replaceable, 'vacant');
  add(custom, 'true');
  add(builtIn, 'onstart');
  return services;
}

function localService(resource: Resource, management: Management): ApiObject {
  const { group, version } = resource;
  const priority = priorityOf(resource);
  const labels = management === 'vacant' ? {} : { labels: { [AUTOMANAGED]: management } };
  const priorities = { groupPriorityMinimum: priority.group, versionPriority: priority.version };
  return {
    apiVersion: `${GROUP}/v1`,
    kind: 'APIService',
    metadata: { name: `${version}.${group}`, ...labels },
    spec: { ...(group !== '' && { group }), version, ...priorities },
  };
}

export type ServiceState = {
  desired: LocalService | undefined;
  current: ApiObject | undefined;
  /** Whether the APIService already existed when the server started. */
  wasAtStart: boolean;
  /** Whether the APIService has been synced since the server started. */
  isSynced: boolean;
  /** Whether an extension API server serves any version of the APIService's group. */
  isTakenOver: boolean;
};

export type ServiceAction = 'create' | 'update' | 'delete' | undefined;

const managementOf = (object: ApiObject): string | undefined => object.metadata.labels?.[AUTOMANAGED];

const isLocal = (object: ApiObject): boolean => objectAt(object, 'spec', 'service') === undefined;

/** Returns the action for an APIService, following the rules of upstream's controller. */
export function serviceAction({ desired, current, wasAtStart, isSynced, isTakenOver }: ServiceState): ServiceAction {
  if (desired?.management === 'vacant') {
    if (isTakenOver) return current !== undefined && isLocal(current) ? 'delete' : undefined;
    return current === undefined && !isSynced ? 'create' : undefined;
  }
  if (desired?.management === 'onstart' && isSynced) return undefined;
  if (current === undefined) return desired && 'create';
  const management = managementOf(current);
  if (management !== 'onstart' && management !== 'true') return undefined;
  if (management === 'onstart' && (!wasAtStart || isSynced)) return undefined;
  if (desired === undefined) return 'delete';
  return isSameSpec(current, desired.object) ? undefined : 'update';
}

/** Whether two specs are equal. Like upstream, treats unset texts and '' as equal. */
function isSameSpec(current: ApiObject, desired: ApiObject): boolean {
  const given = Object.entries(objectAt(current, 'spec') ?? {}).filter(([, value]) => value !== '');
  return isSameValue(Object.fromEntries(given), desired.spec);
}
