import { OPEN_DIRECTORY } from '@podwright/base';
import type { Pod, PodObjects, Volume } from '@podwright/kube-api';
import type { NodeAllocatable } from '../downward-api/container-resource.ts';
import { isWritten, writeAtomically } from './atomic-writer.ts';
import { makeOpenDirectory, tmpfsOptions } from './empty-dir.ts';
import type { Mounter } from './mounter.ts';
import { nestedMountPoints } from './nested-mounts.ts';
import { contentHash, type PayloadInput, type PodTokens, volumePayload } from './payload.ts';
import type { VolumePlugin, VolumeRequest } from './plugin.ts';
import { RecentVolumes } from './recent-volumes.ts';
import { TMPFS_ROOT } from './volume-ownership.ts';

export type PayloadPluginOptions = {
  /** The plugin's name, such as `kubernetes.io/configmap`. */
  name: string;
  field: 'configMap' | 'secret' | 'downwardAPI' | 'projected';
  mounter: Mounter;
  objects: PodObjects;
  nodeAllocatable: NodeAllocatable;
  /** Provides service account tokens; `undefined` without an API server. */
  tokens?: PodTokens;
};

/** Volumes with files written by the node: configMap, secret, downwardAPI and projected. Secrets are never written to disk. */
export class PayloadPlugin implements VolumePlugin {
  readonly name: string;
  readonly #options: PayloadPluginOptions;
  readonly #recent = new RecentVolumes();

  constructor(options: PayloadPluginOptions) {
    this.name = options.name;
    this.#options = options;
  }

  supports(volume: Volume): boolean {
    return volume[this.#options.field] !== undefined;
  }

  async setUp({ pod, volume, directory }: VolumeRequest, signal: AbortSignal): Promise<string> {
    const { mounter, nodeAllocatable, field } = this.#options;
    // build the payload first, so that a volume that fails to populate leaves no files behind
    const payload = volumePayload(volume, {
      ...this.#options,
      pod,
      tokens: await this.#tokensFor(pod, volume, signal),
    });
    const group = pod.spec.securityContext?.fsGroup;
    const options = { group, mountPoints: nestedMountPoints(pod, volume.name) };
    const content = contentHash(payload, options);
    if (this.#recent.has(directory, content)) return directory;
    await makeOpenDirectory(directory, pod, field === 'configMap' ? OPEN_DIRECTORY : TMPFS_ROOT);
    if (holdsSecrets(volume) && !(await mounter.isMountPoint(directory))) {
      const limits = { pod, nodeMemoryBytes: nodeAllocatable.memoryBytes };
      await mounter.mountTmpfs(directory, tmpfsOptions(limits), signal);
    }
    await writeAtomically(directory, payload, options);
    this.#recent.add(directory, content);
    return directory;
  }

  async #tokensFor(pod: Pod, { projected }: Volume, signal: AbortSignal): Promise<PayloadInput['tokens']> {
    const { tokens } = this.#options;
    const projections = (projected?.sources ?? []).flatMap(({ serviceAccountToken }) => serviceAccountToken ?? []);
    if (tokens === undefined || projections.length === 0) return undefined;
    return new Map(
      await Promise.all(
        projections.map(async (projection) => [projection, await tokens.token(pod, projection, signal)] as const),
      ),
    );
  }

  async existingPath({ volume, directory }: VolumeRequest): Promise<string | undefined> {
    if (holdsSecrets(volume) && !(await this.#options.mounter.isMountPoint(directory))) return undefined;
    return (await isWritten(directory)) ? directory : undefined;
  }
}

function holdsSecrets({ secret, projected }: Volume): boolean {
  return (
    secret !== undefined ||
    (projected?.sources ?? []).some((source) => (source.secret ?? source.serviceAccountToken) !== undefined)
  );
}
