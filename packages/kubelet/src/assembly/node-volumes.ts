import type { Node } from '@podwright/kube-api';
import { compareVersions } from '@podwright/kube-client';
import type { VolumesInUse } from '@podwright/volumes';

/** Passes the volumes of the node object to `VolumesInUse`, and ignores versions of the object that are older than the last one. */
export class NodeVolumes {
  readonly #inUse: Pick<VolumesInUse, 'isLoaded' | 'names' | 'reported'>;
  #version: string | undefined;
  /** The version of the object that the watch had when the API server was restored from a backup: it is outdated. */
  #outdated: Node | undefined;

  constructor(inUse: Pick<VolumesInUse, 'isLoaded' | 'names' | 'reported'>) {
    this.#inUse = inUse;
  }

  /** `undefined` until the volumes that an earlier kubelet has left in use have been read. */
  inUse(): string[] | undefined {
    return this.#inUse.isLoaded ? this.#inUse.names() : undefined;
  }

  /** The API server was restored from a backup: ignores `shown`, the object from the watch, and all volumes until the object is read again. */
  restored(shown: Node | undefined): void {
    this.#outdated = shown;
    this.#version = undefined;
    this.#inUse.reported([], []);
  }

  /** Takes the newest version, from a read or from the answer to a write. */
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
