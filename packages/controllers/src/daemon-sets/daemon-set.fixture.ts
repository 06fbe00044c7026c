import type { Node, Pod, PodPhase, Taint } from '@podwright/kube-api';
import type { DaemonSet, DaemonSetSpec, DaemonSetStatus } from '../objects/daemon-set.ts';
import { newDaemonPod } from './daemon-pod.ts';
import { type DaemonSetView, viewOf } from './daemon-set-state.ts';

/** A stored DaemonSet with the API server's defaults. */
export function newDaemonSet(spec: Partial<DaemonSetSpec> = {}, status?: DaemonSetStatus): DaemonSet {
  const containers = [{ name: 'main', image: 'agent:1' }];
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { namespace: 'shop', name: 'agent', uid: 'u1', generation: 1 },
    spec: {
      selector: { matchLabels: { app: 'agent' } },
      template: { metadata: { labels: { app: 'agent' } }, spec: { containers } },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
      revisionHistoryLimit: 2,
      ...spec,
    },
    ...(status === undefined ? {} : { status }),
  };
}

export const SURGE: DaemonSetSpec['updateStrategy'] = {
  type: 'RollingUpdate',
  rollingUpdate: { maxSurge: 1, maxUnavailable: 0 },
};

export function newNode(
  name: string,
  { taints, labels }: { taints?: Taint[]; labels?: Record<string, string> } = {},
): Node {
  return { metadata: { name, uid: `uid-${name}`, labels }, spec: { taints } } as Node;
}

export type PodOptions = {
  phase?: PodPhase;
  isReady?: boolean;
  isDeleting?: boolean;
  /** The pod's revision hash. Default: `new`, the template's. */
  hash?: string;
  isAssigned?: boolean;
  createdAt?: string;
};

/** A pod of the set, running and ready by default. The first letter of its name is its node. */
function daemonPod(set: DaemonSet, name: string, options: PodOptions): Pod {
  const nodeName = name[0]!;
  const { phase = 'Running', isReady = phase === 'Running', isDeleting = false, hash = 'new' } = options;
  const { isAssigned = true, createdAt = '2026-01-01T00:00:00Z' } = options;
  const { metadata, spec, ...pod } = newDaemonPod(set, nodeName, hash);
  return {
    ...pod,
    metadata: {
      ...metadata,
      namespace: 'shop',
      name,
      uid: `uid-${name}`,
      creationTimestamp: createdAt,
      ...(isDeleting ? { deletionTimestamp: '2026-01-01T00:00:30Z' } : {}),
    },
    spec: { ...spec, ...(isAssigned ? { nodeName } : {}) },
    status: {
      phase,
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    },
  };
}

/** A snapshot of a DaemonSet on nodes a, b and c. `pods` is keyed by pod name, whose first letter is the node. */
export function newView(
  spec: Partial<DaemonSetSpec>,
  pods: Record<string, PodOptions>,
  nodes: Node[] = ['a', 'b', 'c'].map((name) => newNode(name)),
): DaemonSetView {
  const set = newDaemonSet(spec);
  const all = Object.entries(pods).map(([name, options]) => daemonPod(set, name, options));
  return viewOf({ set, nodes, pods: all, hash: 'new', nowMs: Date.parse('2026-01-01T00:01:00Z') });
}
