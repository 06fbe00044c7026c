import { mkdir } from 'node:fs/promises';
import { KeyedLock, POD_DIRECTORY } from '@podwright/base';
import type { Pod, PodObjects, Volume } from '@podwright/kube-api';
import type { ClaimVolumes } from './claims.ts';
import type { Mounter } from './mounter.ts';
import { isOfOnePod, refuseSecondPod } from './one-pod.ts';
import type { VolumePlugin, VolumeRequest } from './plugin.ts';
import { changeGroup } from './volume-ownership.ts';

/**
 * `persistentVolumeClaim` of a pod from a manifest: a host directory that is bind-mounted for each pod, as upstream does for local volumes.
 * The first pod to use the directory changes its group to the pod's fsGroup. Groups and modes are left unchanged while other pods are using
 * it.
 */
export class PersistentVolumeClaimPlugin implements VolumePlugin {
  readonly name = 'kubernetes.io/local-volume';
  readonly #claims: ClaimVolumes;
  readonly #objects: PodObjects;
  readonly #mounter: Mounter;
  readonly #locks = new KeyedLock();

  constructor({ claims, objects, mounter }: { claims: ClaimVolumes; objects: PodObjects; mounter: Mounter }) {
    this.#claims = claims;
    this.#objects = objects;
    this.#mounter = mounter;
  }

  supports(volume: Volume): boolean {
    return volume.persistentVolumeClaim !== undefined;
  }

  async setUp({ pod, volume, directory }: VolumeRequest, signal: AbortSignal): Promise<string> {
    const { claimName, readOnly = false } = volume.persistentVolumeClaim!;
    const { namespace } = pod.metadata;
    const { fsGroup: group, fsGroupChangePolicy: policy } = pod.spec.securityContext ?? {};
    return this.#locks.run(`${namespace}/${claimName}`, async () => {
      if (await this.#mounter.isMountPoint(directory)) return directory;
      const source = await this.#claims.make(namespace, claimName);
      const isFirst = (await this.#mounter.mountsOf(source)).length === 0;
      if (!isFirst && this.#isOfOnePod(pod, claimName)) refuseSecondPod();
      // change the group before mounting: if the change is interrupted, the volume is not mounted yet, so the next attempt repeats the
      // change
      if (group !== undefined && isFirst && !readOnly) await changeGroup(source, { group, policy });
      await mkdir(directory, { recursive: true, mode: POD_DIRECTORY });
      await this.#mounter.bindMount(source, directory, signal);
      return directory;
    });
  }

  #isOfOnePod(pod: Pod, name: string): boolean {
    const claim = this.#objects.of(pod).get('PersistentVolumeClaim', pod.metadata.namespace, name);
    return isOfOnePod(claim?.spec ?? {});
  }
}
