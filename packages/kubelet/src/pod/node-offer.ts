import { type Node, parseQuantity } from '@podwright/kube-api';
import { standardLabels } from '../node/node-facts.ts';
import type { NodeResources } from '../node/node-resources.ts';
import type { KubeletOptions } from '../options.ts';
import type { NodeFacts } from './pod-admission.ts';

/** Returns the node facts that admission checks pods against, based on the kubelet's own options. */
export function nodeFacts(options: KubeletOptions, resources: NodeResources): NodeFacts {
  const { nodeName, nodeLabels, maxPods, allowedUnsafeSysctls } = options;
  const labels = { ...standardLabels(nodeName), ...nodeLabels };
  return { name: nodeName, labels, maxPods, allowedUnsafeSysctls, resources };
}

/** Returns the node facts with the labels, taints and extended resources of the Node object, which other API clients may have set. */
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
