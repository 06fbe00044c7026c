import { PodwrightError } from '@podwright/base';
import type { Authorization } from '../client/caller.ts';
import { REREAD_MS } from '../limits.ts';
import type { MaterialFile } from './parse-kubeconfig.ts';
import { readSmallFile } from './read-material.ts';

/** A bearer token in a file kept up to date by another program. The file is reread after a minute, or when the server rejects the token. */
export class TokenFile implements Authorization {
  readonly #file: MaterialFile;
  readonly #now: () => number;
  #token: string | undefined;
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(file: MaterialFile, now: () => number = () => performance.now()) {
    this.#file = file;
    this.#now = now;
  }

  /** Returns the Authorization header, with the last token if the file can no longer be read. */
  async header(): Promise<string> {
    if (this.#now() - this.#readAtMs >= REREAD_MS) {
      try {
        this.#token = await this.#read();
      } catch (error) {
        if (this.#token === undefined) throw error;
      }
      this.#readAtMs = this.#now();
    }
    return `Bearer ${this.#token}`;
  }

  async refused(header: string | undefined): Promise<boolean> {
    this.#readAtMs = Number.NEGATIVE_INFINITY;
    return (await this.header()) !== header;
  }

  async #read(): Promise<string> {
    const { path, field } = this.#file;
    const token = (await readSmallFile(path, field)).toString('utf8').trim();
    if (!/^[\x21-\x7e]+$/.test(token))
      throw new PodwrightError('invalid_argument', `${field}${path} has no token, or more than one`);
    return token;
  }
}
