/** Nodes, pods and snapshots for tests. */
import type { Node, Pod, PodSpec, PodStatus } from '@podwright/kube-api';
import { NodeState, type Snapshot } from './snapshot.ts';

type NodeFields = {
  labels?: Record<string, string>;
  spec?: Node['spec'];
  allocatable?: Record<string, string>;
  conditions?: NonNullable<Node['status']>['conditions'];
};

export function testNode(name: string, { labels, spec, allocatable, conditions }: NodeFields = {}): Node {
  return {
    metadata: { name, uid: `uid-${name}`, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec,
    status: {
      allocatable: allocatable ?? { cpu: '2', memory: '4Gi', pods: '110' },
      conditions: conditions ?? [{ type: 'Ready', status: 'True' }],
    },
  };
}

type PodFields = {
  namespace?: string;
  labels?: Record<string, string>;
  requests?: Record<string, string>;
  spec?: Partial<PodSpec>;
  status?: Partial<PodStatus> & { nominatedNodeName?: string };
  metadata?: Partial<Pod['metadata']>;
};

export function testPod(
  name: string,
  { namespace = 'default', labels, requests, spec, status, metadata }: PodFields = {},
): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, uid: `uid-${name}`, labels, ...metadata },
    spec: {
      containers: [{ name: 'main', image: 'a', resources: { requests } } as PodSpec['containers'][number]],
      ...spec,
    },
    status: { phase: 'Pending', ...status },
  };
}

/** Builds a snapshot of these nodes, each with its pods. `rest` overrides the snapshot's other fields, which are empty by default. */
export function testSnapshot(nodes: readonly (readonly [Node, ...Pod[]])[], rest: Partial<Snapshot> = {}): Snapshot {
  return {
    nodes: nodes.map(([node, ...pods]) => new NodeState(node, pods)),
    budgets: [],
    volumes: [],
    namespaceLabels: (name) => ({ 'kubernetes.io/metadata.name': name }),
    claim: () => undefined,
    volume: () => undefined,
    storageClass: () => undefined,
    ...rest,
  };
}
