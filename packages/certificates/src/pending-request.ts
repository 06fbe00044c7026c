import { createHash, createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isErrno, makePrivateDirectory, wrapError } from '@podwright/base';
import { removeUnfinished, writeFileDurable } from '@podwright/host';
import type { CertificateSubject } from './certificate-request.ts';
import type { RequestName } from './signing-request.ts';

/** The key of a pending request and, once the API server has created the request, the request's name. */
export type PendingRequest = { key: string; asked?: RequestName };

/** The first line of a pending request's file, which PEM parsers ignore. */
type Head = { subject: string; asked?: RequestName };

/**
 * Stores the key of a pending request until the certificate is issued, so that a restarted kubelet waits for the same request. A stored key
 * is reused only for the same subject.
 */
export class PendingRequestFile {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Returns the pending request for this subject. If there is none, generates a new key and stores it before resolving. */
  async open(subject: CertificateSubject): Promise<PendingRequest> {
    const stored = await this.#read(subject);
    if (stored !== undefined) return stored;
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pending = { key: privateKey.export({ type: 'sec1', format: 'pem' }) as string };
    await this.write(subject, pending);
    return pending;
  }

  async write(subject: CertificateSubject, { key, asked }: PendingRequest): Promise<void> {
    const head: Head = { subject: digestOf(subject), asked };
    makePrivateDirectory(dirname(this.#path));
    await writeFileDurable(this.#path, `${JSON.stringify(head)}\n${key}`).catch((error: unknown) => {
      throw wrapError(`store the key of a certificate request in ${this.#path}`, error);
    });
  }

  async remove(): Promise<void> {
    await removeUnfinished(this.#path);
    await rm(this.#path, { force: true });
  }

  /**
   * Reads the pending request's file. An invalid file is treated as missing: its key is not used anywhere else, so a new one can be
   * generated.
   */
  async #read(subject: CertificateSubject): Promise<PendingRequest | undefined> {
    const text = await readFile(this.#path, 'utf8').catch((error: unknown) => {
      if (isErrno(error, 'ENOENT')) return '';
      throw wrapError(`read ${this.#path}`, error);
    });
    const at = text.indexOf('\n');
    const key = text.slice(at + 1);
    const head = headOf(text.slice(0, at));
    return head?.subject === digestOf(subject) && isKey(key) ? { key, asked: head.asked } : undefined;
  }
}

function headOf(line: string): Head | undefined {
  try {
    const { subject, asked } = JSON.parse(line) as Head;
    const isAsked = typeof asked?.name === 'string' && typeof asked.uid === 'string';
    return { subject, asked: isAsked ? asked : undefined };
  } catch {
    return undefined;
  }
}

function isKey(text: string): boolean {
  try {
    createPrivateKey(text);
    return true;
  } catch {
    return false;
  }
}

function digestOf({ commonName, organizations, names }: CertificateSubject): string {
  return createHash('sha256')
    .update(JSON.stringify([commonName, organizations, names]))
    .digest('hex');
}
