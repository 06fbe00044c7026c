import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { makePrivateDirectory, wrapError } from '@podwright/base';
import { namesIn, readRegularFile, writeFileDurable } from '@podwright/host';
import { readSigningKey, type SigningKey } from './signing-key.ts';

const MAX_KEY_BYTES = 64 << 10;
const KEY_FILE = /^(\d{1,9})\.pem$/;

/**
 * Signing keys for service account tokens, stored in a directory that only root can read, one file per key (`1.pem`, `2.pem`, …). The key
 * with the highest number signs; all keys verify. While the server is stopped, administrators may add files with RSA or ECDSA keys, and
 * remove keys whose tokens have all expired.
 */
export class SigningKeys {
  readonly #directory: string;
  readonly #keys: { number: number; key: SigningKey }[];

  private constructor(directory: string, keys: { number: number; key: SigningKey }[]) {
    this.#directory = directory;
    this.#keys = keys;
  }

  /** Reads the keys. Creates the directory and the first key if they do not exist. */
  static async open(directory: string): Promise<SigningKeys> {
    const numbers = (await namesIn(directory)).flatMap((name) => KEY_FILE.exec(name)?.[1] ?? []).map(Number);
    const keys: { number: number; key: SigningKey }[] = [];
    for (const number of numbers.sort((a, b) => a - b)) keys.push({ number, key: await readKey(directory, number) });
    const opened = new SigningKeys(directory, keys);
    if (keys.length === 0) await opened.rotate();
    return opened;
  }

  /** The key that signs new tokens. */
  get current(): SigningKey {
    return this.#keys.at(-1)!.key;
  }

  /** All keys, oldest first. */
  get all(): SigningKey[] {
    return this.#keys.map(({ key }) => key);
  }

  /**
   * Creates a key that signs all tokens from now on. Tokens signed with older keys remain valid. Verifiers outside the cluster may cache
   * the key list for an hour and reject tokens signed with the new key until they refresh it.
   */
  async rotate(): Promise<void> {
    const number = (this.#keys.at(-1)?.number ?? 0) + 1;
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    makePrivateDirectory(this.#directory);
    await writeFileDurable(pathOf(this.#directory, number), pem);
    this.#keys.push({ number, key: readSigningKey(pem) });
  }
}

const pathOf = (directory: string, number: number): string => join(directory, `${number}.pem`);

async function readKey(directory: string, number: number): Promise<SigningKey> {
  const path = pathOf(directory, number);
  try {
    return readSigningKey(await readRegularFile(path, MAX_KEY_BYTES));
  } catch (error) {
    throw wrapError(`read the signing key of service account tokens ${path}`, error);
  }
}
