import { readdir, readFile, readlink, rename, rm, symlink } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { isErrno, makePrivateDirectory, PodwrightError, wrapError } from '@podwright/base';
import { syncDirectory, writeFileDurable } from '@podwright/host';
import { type CertificateFacts, type CertificatePair, readPair } from './certificate-pair.ts';

/** A stored certificate with its key, and the certificate's parsed fields. */
export type StoredPair = CertificatePair & CertificateFacts;

/**
 * Stores a certificate and its key on disk, in upstream's layout (client-go, util/certificate): `PREFIX-current.pem` is a symlink to
 * `PREFIX-DATE.pem`, which contains both. Updates are atomic, even across a power failure. Only the owner can read the files.
 */
export class CertificateStore {
  readonly #prefix: string;
  readonly #directory: string;

  constructor(directory: string, prefix: 'kubelet-client' | 'kubelet-server') {
    this.#directory = resolve(directory);
    this.#prefix = prefix;
  }

  get currentPath(): string {
    return this.#path('current');
  }

  /** Path of the file with the private key of the pending certificate request. */
  get pendingPath(): string {
    return join(this.#directory, `${this.#prefix}.key.tmp`);
  }

  /**
   * Returns the stored certificate and key, even if the certificate has expired. Must be called before `update`. Rejects with
   * `invalid_argument` if the file is invalid.
   */
  async current(): Promise<StoredPair | undefined> {
    await this.#removeUnfinished();
    await this.#recover();
    const what = `read the certificate ${this.currentPath}`;
    const text = await readFile(this.currentPath, 'utf8').catch((error: unknown) => {
      if (isErrno(error, 'ENOENT')) return undefined;
      throw wrapError(what, error);
    });
    if (text === undefined) return undefined;
    const pair = { certificate: text, key: text };
    return { ...pair, ...readPair(what, pair) };
  }

  /** Replaces the stored pair. If the new pair is invalid, rejects with `invalid_argument` and changes nothing. */
  async update(pair: CertificatePair, at = new Date()): Promise<StoredPair> {
    const what = `keep the certificate ${this.currentPath}`;
    const facts = readPair(what, pair);
    makePrivateDirectory(this.#directory);
    const text = `${pair.certificate.trimEnd()}\n${pair.key.trimEnd()}\n`;
    try {
      const path = this.#path(dateText(at));
      await writeFileDurable(path, text);
      await rm(this.#path('updated'), { force: true });
      await symlink(path, this.#path('updated'));
      await this.#refuseFile();
      await rename(this.#path('updated'), this.currentPath);
      await syncDirectory(this.#directory);
    } catch (error) {
      throw wrapError(what, error);
    }
    return { certificate: text, key: text, ...facts };
  }

  #path(qualifier: string): string {
    return join(this.#directory, `${this.#prefix}-${qualifier}.pem`);
  }

  /** Like upstream, refuses to replace the symlink to the current certificate if a user has put a regular file in its place. */
  async #refuseFile(): Promise<void> {
    const link = await readlink(this.currentPath).catch((error: unknown) => {
      if (isErrno(error, 'ENOENT')) return '';
      if (!isErrno(error, 'EINVAL')) throw error;
      return undefined;
    });
    if (link === undefined)
      throw new PodwrightError('failed_precondition', `${basename(this.currentPath)} is a file, not a link; remove it`);
  }

  /** Removes temporary files left behind by a kubelet that was killed. */
  async #removeUnfinished(): Promise<void> {
    const names = await readdir(this.#directory).catch(() => []);
    const unfinished = names.filter((name) =>
      name.startsWith(`${this.#prefix}-`) ? name.endsWith('.tmp') : name.startsWith(`${this.#prefix}.key.tmp.`),
    );
    for (const name of unfinished) await rm(join(this.#directory, name), { force: true });
  }

  /** Completes an interrupted update by upstream's kubelet, which removes the old symlink before renaming the new one. */
  async #recover(): Promise<void> {
    const current = await readlink(this.currentPath).catch((error: unknown) =>
      isErrno(error, 'ENOENT') ? undefined : '',
    );
    if (current !== undefined) return;
    await rename(this.#path('updated'), this.currentPath).catch((error: unknown) => {
      if (!isErrno(error, 'ENOENT')) throw wrapError(`take over ${this.#path('updated')}`, error);
    });
  }
}

/** Formats local time like Go's layout `2006-01-02-15-04-05`. */
function dateText(date: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())];
  return [...day, ...[date.getHours(), date.getMinutes(), date.getSeconds()].map(two)].join('-');
}
