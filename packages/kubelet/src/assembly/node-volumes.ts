import type { Node } from '@podwright/kube-api';
import { compareVersions } from '@podwright/kube-client';
import type { VolumesInUse } from '@podwright/volumes';

/** Tells those who mount volumes what the node object says of them, never an older version of it after a newer one. */
export class NodeVolumes {
  readonly #inUse: Pick<VolumesInUse, 'isLoaded' | 'names' | 'reported'>;
  #version: string | undefined;
  /** What a watch had told of a server that was restored from a backup since. */
  #outdated: Node | undefined;

  constructor(inUse: Pick<VolumesInUse, 'isLoaded' | 'names' | 'reported'>) {
    this.#inUse = inUse;
  }

  /** `undefined` before it is known what an earlier kubelet has left in use. */
  inUse(): string[] | undefined {
    return this.#inUse.isLoaded ? this.#inUse.names() : undefined;
  }

  /** The API server has an earlier state than `shown`: what that says counts no more, and nothing else before it is read anew. */
  restored(shown: Node | undefined): void {
    this.#outdated = shown;
    this.#version = undefined;
    this.#inUse.reported([], []);
  }

  /** What was read or answered last. */
  known(node: Node): void {
    if (node === this.#outdated) return;
    const { metadata, status } = node;
    this.#version = metadata.resourceVersion;
    this.#inUse.reported(
      status?.volumesInUse ?? [],
      (status?.volumesAttached ?? []).map(({ name }) => name),
    );
  }

  /** What a watch has told, which may be late. */
  seen(node: Node | undefined): void {
    if (node !== undefined && (compareVersions(node.metadata.resourceVersion, this.#version) ?? -1) >= 0)
      this.known(node);
  }
}
