import { type Node, parseQuantity } from '@podwright/kube-api';
import { standardLabels } from '../node/node-facts.ts';
import type { NodeResources } from '../node/node-resources.ts';
import type { KubeletOptions } from '../options.ts';
import type { NodeFacts } from './pod-admission.ts';

/** What a node with these options offers to pods. */
export function nodeFacts(options: KubeletOptions, resources: NodeResources): NodeFacts {
  const { nodeName, nodeLabels, maxPods, allowedUnsafeSysctls } = options;
  const labels = { ...standardLabels(nodeName), ...nodeLabels };
  return { name: nodeName, labels, maxPods, allowedUnsafeSysctls, resources };
}

/** The same with what others have said of the node at an API server: its labels, its taints, and resources that no kubelet knows. */
export function toldNodeFacts(own: NodeFacts, node: Node): NodeFacts {
  const told = Object.entries(node.status?.allocatable ?? {}).filter(([name]) => name.includes('/'));
  const resources = Object.fromEntries(told.map(([name, amount]) => [name, parseQuantity(amount).nanos / NANOS]));
  return {
    ...own,
    labels: { ...node.metadata.labels, 'kubernetes.io/os': 'linux' },
    taints: node.spec?.taints ?? [],
    resources: { ...resources, ...own.resources },
  };
}

const NANOS = 1_000_000_000n;
