import type { NodePressure } from '@podwright/kubelet-configuration';
import type { NodeFacts } from '../node/node-object.ts';
import { pressureConditions } from '../node-status/node-conditions.ts';
import type { KubeletOptions } from '../options.ts';
import type { KnownHost } from './known-host.ts';
import type { NodeGrants } from './node-grants.ts';

type NodeFactsInput = {
  options: KubeletOptions;
  known: KnownHost;
  grants: Pick<NodeGrants, 'amounts'>;
  pressure: NodePressure;
  startedAtMs: number;
};

/**
 * Returns the facts for a standalone kubelet's Node object. Capacity and allocatable include resources currently offered by device plugins.
 */
export function nodeFacts({ options, known, grants, pressure, startedAtMs }: NodeFactsInput): NodeFacts {
  const { runtimeName: name, runtimeVersion: version } = known.version;
  return {
    name: options.nodeName,
    labels: options.nodeLabels,
    maxPods: options.maxPods,
    addresses: known.addresses,
    get capacity() {
      return { ...known.has, ...grants.amounts().capacity };
    },
    get allocatable() {
      return { ...known.resources, ...grants.amounts().allocatable };
    },
    runtime: { name, version },
    startedAtMs,
    conditions: () => pressureConditions(pressure, startedAtMs),
  };
}
