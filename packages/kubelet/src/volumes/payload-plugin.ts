import { chmod, chown, mkdir } from 'node:fs/promises';
import { CONTAINER_DIRECTORY, PRIVATE_DIRECTORY, SET_GROUP_ID } from '@podwright/base';
import type { Volume } from '../api/types.ts';
import type { ObjectLookup } from '../config/local-objects.ts';
import type { NodeAllocatable } from '../downward-api/container-resource.ts';
import { writeAtomically } from './atomic-writer.ts';
import type { Mounter } from './mounter.ts';
import { volumePayload } from './payload.ts';
import type { VolumePlugin, VolumeRequest } from './plugin.ts';

export type PayloadPluginOptions = {
  /** Such as `kubernetes.io/configmap`. */
  name: string;
  field: 'configMap' | 'secret' | 'downwardAPI' | 'projected';
  mounter: Mounter;
  objects: ObjectLookup;
  nodeAllocatable: NodeAllocatable;
};

/** The volumes whose files the node writes: configMap, secret, downwardAPI and projected. Secrets never touch the disk. */
export class PayloadPlugin implements VolumePlugin {
  readonly name: string;
  readonly #options: PayloadPluginOptions;

  constructor(options: PayloadPluginOptions) {
    this.name = options.name;
    this.#options = options;
  }

  supports(volume: Volume): boolean {
    return volume[this.#options.field] !== undefined;
  }

  async setUp({ pod, volume, directory }: VolumeRequest, signal: AbortSignal): Promise<string> {
    const { mounter, objects, nodeAllocatable } = this.#options;
    // before anything is made, so that a volume that cannot be filled leaves nothing
    const payload = volumePayload(volume, { pod, objects, nodeAllocatable });
    const group = pod.spec.securityContext?.fsGroup;
    const isNew = (await mkdir(directory, { recursive: true, mode: PRIVATE_DIRECTORY })) !== undefined;
    const mount = holdsSecrets(volume) && !(await mounter.isMountPoint(directory));
    if (mount) await mounter.mountTmpfs(directory, ['mode=0755'], signal);
    if (isNew || mount) {
      if (group !== undefined) await chown(directory, 0, group);
      await chmod(directory, group === undefined ? CONTAINER_DIRECTORY : SET_GROUP_ID | CONTAINER_DIRECTORY);
    }
    await writeAtomically(directory, payload, { group });
    return directory;
  }
}

function holdsSecrets({ secret, projected }: Volume): boolean {
  return secret !== undefined || (projected?.sources ?? []).some((source) => source.secret !== undefined);
}
