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
