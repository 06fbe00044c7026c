import type { Node } from '@podwright/kube-api';
import { compareVersions } from '@podwright/kube-client';
import type { VolumesInUse } from '@podwright/volumes';

/**
 * Passes the node object's attached and in-use volumes to `VolumesInUse`, ignoring versions of the object that are older than the last one.
 */
export class NodeVolumes {
  readonly #inUse: Pick<VolumesInUse, 'isLoaded' | 'names' | 'reported'>;
  #version: string | undefined;
  /** The version of the object that the watch had when the API server was restored from a backup. It is outdated. */
  #outdated: Node | undefined;

  constructor(inUse: Pick<VolumesInUse, 'isLoaded' | 'names' | 'reported'>) {
    this.#inUse = inUse;
  }

  /** The volumes in use; `undefined` until the record of an earlier kubelet has been read. */
  inUse(): string[] | undefined {
    return this.#inUse.isLoaded ? this.#inUse.names() : undefined;
  }

  /**
   * Handles the restore of the API server from a backup: drops all volumes until the node object is read again, and ignores `shown`, the
   * watch's outdated version.
   */
  restored(shown: Node | undefined): void {
    this.#outdated = shown;
    this.#version = undefined;
    this.#inUse.reported([], []);
  }

  /** Takes the newest version, from a read or from the response to a write. */
  known(node: Node): void {
    if (node === this.#outdated) return;
    const { metadata, status } = node;
    this.#version = metadata.resourceVersion;
    this.#inUse.reported(
      status?.volumesInUse ?? [],
      (status?.volumesAttached ?? []).map(({ name }) => name),
    );
  }

  /** Takes a version from a watch, which may be older than the last one. */
  seen(node: Node | undefined): void {
    if (node !== undefined && (compareVersions(node.metadata.resourceVersion, this.#version) ?? -1) >= 0)
      this.known(node);
  }
}
