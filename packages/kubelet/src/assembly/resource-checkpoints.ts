import { join } from 'node:path';
import type { Undo } from '@podwright/base';
import { Checkpoint } from '@podwright/host';
import {
  type ActuatedRecord,
  type AllocatedRecord,
  decodeActuated,
  decodeAllocated,
} from '../kuberuntime/resource-records.ts';
import type { KubeletOptions } from '../options.ts';

/** Checkpoints of the resources that were allocated to pods and applied to containers by in-place resizes. */
export type ResourceCheckpoints = {
  allocated: Checkpoint<AllocatedRecord>;
  actuated: Checkpoint<ActuatedRecord>;
  /** Removes the checkpoint entries of pods for which `isKnown` returns false. */
  keepOnly: (isKnown: (podUid: string) => boolean) => void;
};

/** Opens the checkpoints. The files are not named like upstream's, because upstream's kubelet would refuse to start with this content. */
export async function openResourceCheckpoints(
  { rootDir, logger }: KubeletOptions,
  undo: Undo,
): Promise<ResourceCheckpoints> {
  const path = (name: string) => join(rootDir, 'resource-state', name);
  const allocated = await Checkpoint.open({ path: path('allocated.json'), logger, decode: decodeAllocated });
  const actuated = await Checkpoint.open({ path: path('actuated.json'), logger, decode: decodeActuated });
  undo.add('write the resources of pods', async () => {
    for (const checkpoint of [allocated, actuated]) await checkpoint.close();
  });
  return resourceCheckpoints(allocated, actuated);
}

export function resourceCheckpoints(
  allocated = new Checkpoint<AllocatedRecord>(),
  actuated = new Checkpoint<ActuatedRecord>(),
): ResourceCheckpoints {
  const keepOnly: ResourceCheckpoints['keepOnly'] = (isKnown) => {
    for (const checkpoint of [allocated, actuated]) checkpoint.keepOnly(isKnown);
  };
  return { allocated, actuated, keepOnly };
}
