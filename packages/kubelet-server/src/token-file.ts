import { createHash, timingSafeEqual } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { PodwrightError, WRITABLE_BY_OTHERS, wrapError } from '@podwright/base';
import { MAX_TOKEN_FILE_BYTES, MAX_TOKENS } from './limits.ts';

/** A user, with the fields of Kubernetes' UserInfo. */
export type User = { name: string; uid?: string; groups: string[]; extra?: Record<string, string[]> };

type Entry = { digest: Buffer; user: User };
type Read = { version: string; entries: Entry[] };

const READABLE_BY_OTHERS = 0o044;

/**
 * Bearer tokens in a file that only its owner can read. The file is reread when it changes. While it is unreadable or invalid, all tokens
 * are refused.
 */
export class TokenFile {
  readonly #path: string;
  #read: Read | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Throws if the file does not exist, contains an invalid line, or can be read or written by other users. */
  async check(): Promise<void> {
    await this.#entries();
  }

  /** Returns the token's user, or `undefined` if the token is unknown. */
  async userOf(token: string): Promise<User | undefined> {
    const digest = digestOf(token);
    let found: User | undefined;
    // always compares all entries, so the time taken does not reveal which one matches
    for (const entry of await this.#entries()) if (timingSafeEqual(entry.digest, digest)) found ??= entry.user;
    return found;
  }

  async #entries(): Promise<Entry[]> {
    try {
      await using file = await open(this.#path, 'r');
      return await this.#entriesOf(file);
    } catch (error) {
      this.#read = undefined;
      throw wrapError(`read the bearer tokens in ${this.#path}`, error);
    }
  }

  async #entriesOf(file: FileHandle): Promise<Entry[]> {
    const { ino, size, mtimeNs, mode } = await file.stat({ bigint: true });
    if ((Number(mode) & (READABLE_BY_OTHERS | WRITABLE_BY_OTHERS)) !== 0)
      throw new PodwrightError('permission_denied', 'other users may read or write the file; chmod 600 it');
    if (size > MAX_TOKEN_FILE_BYTES)
      throw new PodwrightError('invalid_argument', `it is larger than ${MAX_TOKEN_FILE_BYTES} bytes`);
    const version = `${ino} ${size} ${mtimeNs}`;
    if (this.#read?.version !== version)
      this.#read = { version, entries: parseTokens(await file.readFile('utf8')).map(toEntry) };
    return this.#read.entries;
  }
}

const digestOf = (token: string) => createHash('sha256').update(token).digest();
const toEntry = ({ token, user }: { token: string; user: User }) => ({ digest: digestOf(token), user });

/**
 * Parses lines in the format of kube-apiserver's token file: `token,user,uid,"group1,group2"`. The UID is ignored. A token without a user
 * belongs to `podwright:admin`. Empty lines and comments (#) are skipped. Throws `invalid_argument`, giving the line number. Pure.
 */
export function parseTokens(text: string): { token: string; user: User }[] {
  const tokens = text.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === '' || line.startsWith('#')) return [];
    const fields = /^([^,\s"]+)(?:,([^,"]+)(?:,([^,"]*)(?:,(?:"([^"]*)"|([^,"]*)))?)?)?$/.exec(line.trim());
    if (fields === null)
      throw new PodwrightError('invalid_argument', `line ${index + 1}: not token,user,uid,"group1,group2"`);
    const [, token = '', name = 'podwright:admin', , quoted, bare] = fields;
    const groups = (quoted ?? bare ?? '').split(',').filter((group) => group !== '');
    return [{ token, user: { name, groups } }];
  });
  if (tokens.length > MAX_TOKENS) throw new PodwrightError('invalid_argument', `more than ${MAX_TOKENS} tokens`);
  return tokens;
}
