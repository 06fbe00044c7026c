import { readdir, readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { isErrno } from '@podwright/base';

/**
 * What `host-local` wrote for one network: a file an address, named after it, whose first line is the id of the sandbox
 * that holds it. It is only read here; the plugin gives addresses back.
 */
export class AddressStore {
  readonly #directory: string;

  constructor(addressDirectory: string, network: string) {
    this.#directory = join(addressDirectory, network);
  }

  /** Ids of the sandboxes that hold an address. */
  async holders(): Promise<Set<string>> {
    const addresses = (await this.#names()).filter((name) => isIP(name) !== 0);
    const ids = await Promise.all(addresses.map((address) => this.#holder(address)));
    return new Set(ids.filter((id) => id !== ''));
  }

  async #names(): Promise<string[]> {
    try {
      return await readdir(this.#directory);
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return [];
      throw error;
    }
  }

  async #holder(address: string): Promise<string> {
    try {
      const text = await readFile(join(this.#directory, address), 'utf8');
      return text.split(/\r?\n/, 1)[0]?.trim() ?? '';
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return ''; // released meanwhile
      throw error;
    }
  }
}
