/** A cluster for unit tests: a certificate authority that signs requests, and a client of an API server that stores them. */
import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import type { KubeObject } from '@podwright/kube-api';
import { ApiStatusError, type KubeClient, type WatchEvent } from '@podwright/kube-client';
import {
  bitString,
  contextTag,
  type DerValue,
  der,
  integer,
  objectIdentifier,
  readAll,
  sequence,
  time,
} from './der.ts';
import { distinguishedName, OID, pem, serialNumber } from './x509.ts';

export type Life = { fromMs?: number; toMs?: number };

/** A certificate authority named `test`. */
export class TestAuthority {
  readonly #key: KeyObject = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

  /** Signs a request (PEM). By default, the certificate is valid from one minute ago until one hour from now. */
  sign(request: string, { fromMs = Date.now() - 60_000, toMs = Date.now() + 3_600_000 }: Life = {}): string {
    const bytes = Buffer.from(request.replaceAll(/-----.*-----|\s/g, ''), 'base64');
    const [, subject, publicKey, attributes] = childrenOf(readAll(bytes)[0], 0);
    const requested = attributes!.content.length === 0 ? [] : childrenOf(attributes, 0, 1); // of extensionRequest: OID, SET of one
    const algorithm = sequence(objectIdentifier(OID.ecdsaSha256));
    const body = sequence(
      der(contextTag(0), integer(Buffer.from([2]))),
      integer(serialNumber()),
      algorithm,
      distinguishedName({ commonName: 'test' }),
      sequence(time(new Date(fromMs)), time(new Date(toMs))),
      subject!.whole,
      publicKey!.whole,
      ...requested.map(({ whole }) => der(contextTag(3), whole)),
    );
    return pem('CERTIFICATE', sequence(body, algorithm, bitString(sign('sha256', body, this.#key))));
  }
}

/** Follows `path` from a DER value, one child index per level, and returns the children of the value at its end. */
export function childrenOf(value: DerValue | undefined, ...path: number[]): DerValue[] {
  const children = readAll(value!.content);
  const [index, ...rest] = path;
  return index === undefined ? children : childrenOf(children[index], ...rest);
}

type Csr = KubeObject & {
  spec: { request: string; signerName: string; usages: string[] };
  status?: { conditions?: object[]; certificate?: string };
};

/** Implements the client calls used for certificate requests. Requests stay pending until `answer` or `issue` is called. */
export class FakeSigning {
  readonly requests = new Map<string, Csr>();
  readonly authority = new TestAuthority();
  /** If set, the next client call rejects with this error. */
  failNext: Error | undefined;
  #changed = Promise.withResolvers<void>();

  readonly client = {
    create: async (_resource: unknown, object: KubeObject) => {
      this.#fail();
      const name = `${object.metadata.generateName}${createHash('sha1').update(randomUUID()).digest('hex').slice(0, 5)}`;
      const made = { ...object, metadata: { name, uid: randomUUID() } } as Csr;
      this.requests.set(name, made);
      this.#notify();
      return made;
    },
    get: async (_resource: unknown, { name }: { name: string }) => {
      this.#fail();
      const found = this.requests.get(name);
      if (found === undefined) throw new ApiStatusError('get', { code: 404, reason: 'NotFound', message: 'no such' });
      return found;
    },
    list: async (_resource: unknown, { fieldSelector }: { fieldSelector?: string }) => {
      this.#fail();
      return { metadata: { resourceVersion: '1' }, items: [this.requests.get(nameIn(fieldSelector)) ?? []].flat() };
    },
    watch: (_resource: unknown, { fieldSelector }: { fieldSelector?: string }, signal: AbortSignal) =>
      this.#watch(nameIn(fieldSelector), signal),
  } as unknown as KubeClient;

  /** Sets the status of a request: an approval, a certificate or a denial. */
  answer(name: string, status: Csr['status']): void {
    this.requests.set(name, { ...this.requests.get(name)!, status });
    this.#notify();
  }

  /** Approves and signs a request. */
  issue(name: string, life?: Life): void {
    const request = Buffer.from(this.requests.get(name)!.spec.request, 'base64').toString();
    const certificate = Buffer.from(this.authority.sign(request, life)).toString('base64');
    this.answer(name, { conditions: [{ type: 'Approved', status: 'True' }], certificate });
  }

  #fail(): void {
    const error = this.failNext;
    this.failNext = undefined;
    if (error !== undefined) throw error;
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  async *#watch(name: string, signal: AbortSignal): AsyncGenerator<WatchEvent<Csr>> {
    const ended = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    while (!signal.aborted) {
      const object = this.requests.get(name);
      if (object !== undefined) yield { type: 'MODIFIED', object };
      await Promise.race([this.#changed.promise, ended]);
    }
    throw signal.reason;
  }
}

const nameIn = (selector = '') => selector.replace('metadata.name=', '');
