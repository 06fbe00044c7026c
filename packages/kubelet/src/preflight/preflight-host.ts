import { hostCgroups } from '../cgroups/host-cgroups.ts';
import { nodeAllocatable } from '../node/node-allocatable.ts';
import { readNodeCapacity } from '../node/node-capacity.ts';
import { allocatableResources, type NodeResources, nodeResources } from '../node/node-resources.ts';
import type { KubeletOptions } from '../options.ts';
import { nodeFacts } from '../pod/node-offer.ts';
import type { PreflightHost } from './preflight.ts';

/** This host as pods will meet it, without what a node has on it already; `resources` is what pods may have together. */
export function hostOf(options: KubeletOptions, resources: NodeResources): PreflightHost {
  return { nodeName: options.nodeName, facts: nodeFacts(options, resources) };
}

/** The same, looked up without a node. Throws `invalid_argument` if the options keep everything back from pods. */
export async function thisHost(options: KubeletOptions): Promise<PreflightHost> {
  const capacity = await readNodeCapacity(await hostCgroups(options.logger));
  const reserved = options.systemReserved;
  const has = await nodeResources(capacity, options.rootDir);
  return hostOf(options, allocatableResources(has, { allocatable: nodeAllocatable(capacity, reserved), reserved }));
}
