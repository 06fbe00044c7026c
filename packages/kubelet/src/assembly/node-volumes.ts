import type { Node } from '@podwright/kube-api';
import { compareVersions } from '@podwright/kube-client';
import type { VolumesInUse } from '@podwright/volumes';

/**
 * Passes the attached and in-use volumes from the Node object to `VolumesInUse`. Ignores versions of the Node object older than the last
 * one.
 */
export class NodeVolumes {
  readonly #inUse: Pick<VolumesInUse, 'isLoaded' | 'names' | 'reported'>;
  #version: string | undefined;
  /** The stale version of the Node object that the watch still had when the API server was restored from a backup. */
  #outdated: Node | undefined;

  constructor(inUse: Pick<VolumesInUse, 'isLoaded' | 'names' | 'reported'>) {
    this.#inUse = inUse;
  }

  /** Returns the volumes in use; `undefined` until the record from before the kubelet restarted has been read. */
  inUse(): string[] | undefined {
    return this.#inUse.isLoaded ? this.#inUse.names() : undefined;
  }

  /**
   * Handles an API server's restore from a backup: drops all volumes until the Node object has been read again, and ignores `shown`, the
   * watch's stale version of it.
   */
  restored(shown: Node | undefined): void {
    this.#outdated = shown;
    this.#version = undefined;
    this.#inUse.reported([], []);
  }

  /** Accepts the latest version of the Node object, from a read or a write response. */
  known(node: Node): void {
    if (node === this.#outdated) return;
    const { metadata, status } = node;
    this.#version = metadata.resourceVersion;
    this.#inUse.reported(
      status?.volumesInUse ?? [],
      (status?.volumesAttached ?? []).map(({ name }) => name),
    );
  }

  /** Accepts a version of the Node object from a watch. Ignored if older than the last one. */
  seen(node: Node | undefined): void {
    if (node !== undefined && (compareVersions(node.metadata.resourceVersion, this.#version) ?? -1) >= 0)
      this.known(node);
  }
}
