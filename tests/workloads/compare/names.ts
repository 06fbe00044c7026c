import type { KubeObject } from '@podwright/kube-api';

/** Labels whose values are hashes of pod templates or revisions. */
const HASHES = ['pod-template-hash', 'controller.kubernetes.io/hash', 'controller-revision-hash'];

/**
 * Replaces the generated parts of names with fixed words, so that two control planes can be compared: hashes, random suffixes, UIDs, and
 * the times in Job names. Hashes are numbered in the order in which they are found.
 */
export class GeneratedNames {
  readonly #hashes: string[] = [];

  /** Records the hashes in an object's labels, so that they are replaced in names later. */
  findHashes({ labels = {} }: KubeObject['metadata']): void {
    for (const label of HASHES) {
      const hash = labels[label]?.split('-').at(-1);
      if (hash !== undefined && !this.#hashes.includes(hash)) this.#hashes.push(hash);
    }
  }

  replaceIn(text: string): string {
    let result = text;
    for (const [index, hash] of this.#hashes.entries()) result = result.replaceAll(hash, `HASH${index}`);
    return result
      .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b/g, 'UID')
      .replaceAll(/-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '-RANDOM')
      .replaceAll(/-\d{8}\b/g, '-MINUTE')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ?|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC/g, 'TIME');
  }
}
