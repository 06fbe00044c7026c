import { standardLabels } from '../node/node-facts.ts';
import type { KubeletOptions } from '../options.ts';
import type { NodeFacts } from './pod-admission.ts';

/** What a node with these options offers to pods. */
export function nodeFacts(options: KubeletOptions): NodeFacts {
  const { nodeName, nodeLabels, maxPods, allowedUnsafeSysctls } = options;
  return { labels: { ...standardLabels(nodeName), ...nodeLabels }, maxPods, allowedUnsafeSysctls };
}
