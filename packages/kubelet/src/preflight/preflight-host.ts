import { hostCgroups } from '../cgroups/host-cgroups.ts';
import { type NodeAmounts, nodeAllocatable } from '../node/node-allocatable.ts';
import { readNodeCapacity } from '../node/node-capacity.ts';
import { nodeResources } from '../node/node-resources.ts';
import type { KubeletOptions } from '../options.ts';
import { nodeFacts } from '../pod/node-offer.ts';
import type { PreflightHost } from './preflight.ts';

/** This host as pods will meet it, without what a node has on it already. */
export async function hostOf(options: KubeletOptions, allocatable: NodeAmounts): Promise<PreflightHost> {
  const resources = await nodeResources(allocatable, options.rootDir);
  return { nodeName: options.nodeName, facts: nodeFacts(options, resources) };
}

/** The same, looked up without a node. Throws `invalid_argument` if the options keep everything back from pods. */
export async function thisHost(options: KubeletOptions): Promise<PreflightHost> {
  const capacity = await readNodeCapacity(await hostCgroups(options.logger));
  return hostOf(options, nodeAllocatable(capacity, options.systemReserved));
}
