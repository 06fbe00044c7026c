import type { DiskLayout, Threshold } from '@podwright/kubelet-configuration';

/** Node-level reclaim steps, which free resources without killing pods. Each rejects if something could not be removed. */
export type NodeReclaim = {
  /** Removes all exited containers, including those retained for inspection. */
  deleteUnusedContainers(signal: AbortSignal): Promise<void>;
  deleteUnusedImages(): Promise<void>;
};

/** Returns the node-level reclaim steps to try before a pod is evicted (buildSignalToNodeReclaimFuncs). Pure. */
export function reclaimSteps(signal: Threshold['signal'], layout: DiskLayout): (keyof NodeReclaim)[] {
  const [fileSystem] = signal.split('.');
  if (fileSystem === undefined || !['nodefs', 'imagefs', 'containerfs'].includes(fileSystem)) return [];
  if (layout === 'split') return fileSystem === 'imagefs' ? ['deleteUnusedImages'] : ['deleteUnusedContainers'];
  if (layout === 'images' && fileSystem === 'nodefs') return [];
  return ['deleteUnusedContainers', 'deleteUnusedImages'];
}
