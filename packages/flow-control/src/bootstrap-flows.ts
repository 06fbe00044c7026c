/** The FlowSchemas and priority levels that every cluster has, with their specs (apiserver, apis/flowcontrol/bootstrap). */
import {
  type ApiObject,
  type JsonObject,
  MANDATORY_FLOW_SCHEMAS,
  MANDATORY_PRIORITY_LEVELS,
} from '@podwright/kube-kinds';

const API_VERSION = 'flowcontrol.apiserver.k8s.io/v1';
/** Annotation: if it is `true`, the server keeps the object's spec up to date. */
export const AUTO_UPDATE = 'apf.kubernetes.io/autoupdate-spec';
/** The FlowSchema for requests that no other FlowSchema matches. */
export const CATCH_ALL = 'catch-all';
/** The FlowSchema and priority level of requests that need no seat. */
export const EXEMPT = 'exempt';

/** The objects that configure API priority and fairness. */
export type FlowObjects = { schemas: readonly ApiObject[]; levels: readonly ApiObject[] };

/**
 * The mandatory objects, without which a request might have no priority level. The server restores them if a user changes or deletes them.
 */
export function mandatoryFlowObjects(): FlowObjects {
  const named = (kind: string, specs: ReadonlyMap<string, JsonObject>) =>
    [...specs].map(([name, spec]) => objectOf(kind, name, spec));
  return {
    schemas: named('FlowSchema', MANDATORY_FLOW_SCHEMAS),
    levels: named('PriorityLevelConfiguration', MANDATORY_PRIORITY_LEVELS),
  };
}

/** The suggested objects. The server recreates deleted ones, and restores the specs of those with `AUTO_UPDATE`. */
export const suggestedFlowObjects = (): FlowObjects => ({ schemas: suggestedSchemas(), levels: suggestedLevels() });

function suggestedLevels(): ApiObject[] {
  const level = (name: string, [shares, lendablePercent]: [number, number], [queues, handSize]: [number, number]) =>
    objectOf('PriorityLevelConfiguration', name, {
      type: 'Limited',
      limited: {
        nominalConcurrencyShares: shares,
        limitResponse: { type: 'Queue', queuing: { queues, handSize, queueLengthLimit: 50 } },
        lendablePercent,
      },
    });
  return [
    level('system', [30, 33], [64, 6]),
    level('node-high', [40, 25], [64, 6]),
    level('leader-election', [10, 0], [16, 4]),
    level('workload-high', [40, 50], [128, 6]),
    level('workload-low', [100, 90], [128, 6]),
    level('global-default', [20, 50], [128, 6]),
  ];
}

function suggestedSchemas(): ApiObject[] {
  const all = { resourceRules: [ALL_RESOURCES], nonResourceRules: [ALL_PATHS] };
  const users = (...names: string[]) => names.map((name) => ({ kind: 'User', user: { name } }));
  const allUsers = groups('system:unauthenticated', 'system:authenticated');
  const nodes = groups('system:nodes');
  const kubeSystem = [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'kube-system', name: '*' } }];
  const managers = users('system:kube-controller-manager', 'system:kube-scheduler');
  const byUser = { type: 'ByUser' };
  const byNamespace = { type: 'ByNamespace' };
  const nodeRules = [{ ...resourceRule(['*'], '', ['nodes', 'nodes/status']), clusterScope: true }, leases(['*'])];
  const probes = [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }];
  const leaderRules = [leases(['get', 'create', 'update'])];
  return [
    schema(['probes', 'exempt', 2], undefined, { subjects: allUsers, nonResourceRules: probes }),
    schema(['system-leader-election', 'leader-election', 100], byUser, {
      subjects: [...managers, ...kubeSystem],
      resourceRules: leaderRules,
    }),
    schema(['system-node-high', 'node-high', 400], byUser, { subjects: nodes, resourceRules: nodeRules }),
    schema(['system-nodes', 'system', 500], byUser, { subjects: nodes, ...all }),
    schema(['kube-controller-manager', 'workload-high', 800], byNamespace, {
      subjects: users('system:kube-controller-manager'),
      ...all,
    }),
    schema(['kube-scheduler', 'workload-high', 800], byNamespace, {
      subjects: users('system:kube-scheduler'),
      ...all,
    }),
    schema(['kube-system-service-accounts', 'workload-high', 900], byNamespace, { subjects: kubeSystem, ...all }),
    schema(['service-accounts', 'workload-low', 9000], byUser, { subjects: groups('system:serviceaccounts'), ...all }),
    schema(['global-default', 'global-default', 9900], byUser, { subjects: allUsers, ...all }),
  ];
}

const resourceRule = (verbs: string[], group: string, resources: string[]): JsonObject => ({
  verbs,
  apiGroups: [group],
  resources,
  namespaces: ['*'],
});

const leases = (verbs: string[]): JsonObject => resourceRule(verbs, 'coordination.k8s.io', ['leases']);

const ALL_RESOURCES: JsonObject = { ...resourceRule(['*'], '*', ['*']), clusterScope: true };
const ALL_PATHS: JsonObject = { verbs: ['*'], nonResourceURLs: ['*'] };

const groups = (...names: string[]): JsonObject[] => names.map((name) => ({ kind: 'Group', group: { name } }));

function schema(
  [name, level, matchingPrecedence]: [string, string, number],
  distinguisherMethod: JsonObject | undefined,
  rule: JsonObject,
): ApiObject {
  return objectOf('FlowSchema', name, {
    priorityLevelConfiguration: { name: level },
    matchingPrecedence,
    ...(distinguisherMethod === undefined ? {} : { distinguisherMethod }),
    rules: [rule],
  });
}

const objectOf = (kind: string, name: string, spec: JsonObject): ApiObject => ({
  apiVersion: API_VERSION,
  kind,
  metadata: { name, annotations: { [AUTO_UPDATE]: 'true' } },
  spec,
});
