import { type Node, parseQuantity } from '@podwright/kube-api';
import { standardLabels } from '../node/node-facts.ts';
import type { NodeResources } from '../node/node-resources.ts';
import type { KubeletOptions } from '../options.ts';
import type { NodeFacts } from './pod-admission.ts';

/** The facts about the node with which admission compares pods, according to the kubelet's own options. */
export function nodeFacts(options: KubeletOptions, resources: NodeResources): NodeFacts {
  const { nodeName, nodeLabels, maxPods, allowedUnsafeSysctls } = options;
  const labels = { ...standardLabels(nodeName), ...nodeLabels };
  return { name: nodeName, labels, maxPods, allowedUnsafeSysctls, resources };
}

/** Adds the Node object's labels, taints and extended resources, which other API clients may have set. */
export function nodeFactsFromApi(own: NodeFacts, node: Node): NodeFacts {
  const extended = Object.entries(node.status?.allocatable ?? {}).filter(([name]) => name.includes('/'));
  const resources = Object.fromEntries(extended.map(([name, amount]) => [name, parseQuantity(amount).nanos / NANOS]));
  return {
    ...own,
    labels: { ...node.metadata.labels, 'kubernetes.io/os': 'linux' },
    taints: node.spec?.taints ?? [],
    resources: { ...resources, ...own.resources },
  };
}

const NANOS = 1_000_000_000n;
