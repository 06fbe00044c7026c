import type { Node } from '@podwright/kube-api';
import { compareVersions } from '@podwright/kube-client';
import type { VolumesInUse } from '@podwright/volumes';

/**
 * Passes the attached and in-use volumes in the Node object to `VolumesInUse`. Versions of the Node object that are older than the last one
 * are ignored.
 */
export class NodeVolumes {
  readonly #inUse: Pick<VolumesInUse, 'isLoaded' | 'names' | 'reported'>;
  #version: string | undefined;
  /** The Node object that the watch had when the API server was restored from a backup. It is outdated. */
  #outdated: Node | undefined;

  constructor(inUse: Pick<VolumesInUse, 'isLoaded' | 'names' | 'reported'>) {
    this.#inUse = inUse;
  }

  /** Returns the volumes in use; `undefined` until an earlier kubelet's record of them has been read. */
  inUse(): string[] | undefined {
    return this.#inUse.isLoaded ? this.#inUse.names() : undefined;
  }

  /**
   * Handles a restore of the API server from a backup: drops all volumes until the Node object has been read again, and ignores `shown`,
   * the watch's outdated version of it.
   */
  restored(shown: Node | undefined): void {
    this.#outdated = shown;
    this.#version = undefined;
    this.#inUse.reported([], []);
  }

  /** Accepts the latest version of the Node object, from a read or from the response to a write. */
  known(node: Node): void {
    if (node === this.#outdated) return;
    const { metadata, status } = node;
    this.#version = metadata.resourceVersion;
    this.#inUse.reported(
      status?.volumesInUse ?? [],
      (status?.volumesAttached ?? []).map(({ name }) => name),
    );
  }

  /** Accepts a version of the Node object from a watch. It is ignored if it is older than the last one. */
  seen(node: Node | undefined): void {
    if (node !== undefined && (compareVersions(node.metadata.resourceVersion, this.#version) ?? -1) >= 0)
      this.known(node);
  }
}
