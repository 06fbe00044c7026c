/** A cluster's side of certificates for unit tests: an authority that signs requests, and a client of an API server that has it. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, randomUUID, sign } from 'node:crypto';
import type { KubeObject } from '@podwright/kube-api';
import { ApiStatusError, type KubeClient, type WatchEvent } from '@podwright/kube-client';
import { bitString, der, ECDSA_SHA256, integer, nameAttribute, oid, pem, sequence } from './der.ts';

/** The parts of a DER value. */
export function derParts(bytes: Buffer): { tag: number; whole: Buffer; content: Buffer }[] {
  const parts = [];
  for (let at = 0; at < bytes.length; ) {
    const long = bytes[at + 1]! & 0x7f;
    const isLong = bytes[at + 1]! > 0x7f;
    const length = isLong ? bytes.readUIntBE(at + 2, long) : long;
    const start = at + 2 + (isLong ? long : 0);
    parts.push({
      tag: bytes[at]!,
      whole: bytes.subarray(at, start + length),
      content: bytes.subarray(start, start + length),
    });
    at = start + length;
  }
  return parts;
}

export type Life = { fromMs?: number; toMs?: number };

/** An authority with the name `test`. */
export class TestAuthority {
  readonly #key: KeyObject = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

  /** Signs what a request (PEM) asks for, for an hour around now unless told. */
  sign(request: string, { fromMs = Date.now() - 60_000, toMs = Date.now() + 3_600_000 }: Life = {}): string {
    const bytes = Buffer.from(request.replaceAll(/-----.*-----|\s/g, ''), 'base64');
    const [, subject, publicKey, attributes] = derParts(derParts(derParts(bytes)[0]!.content)[0]!.content);
    const asked = attributes!.content.length === 0 ? [] : [extensionsOf(attributes!.content)];
    const algorithm = sequence(oid(ECDSA_SHA256));
    const body = sequence(
      der(0xa0, integer(Buffer.from([2]))),
      integer(Buffer.concat([Buffer.from([0x40]), randomBytes(8)])),
      algorithm,
      sequence(nameAttribute('2.5.4.3', 'test')),
      sequence(time(fromMs), time(toMs)),
      subject!.whole,
      publicKey!.whole,
      ...asked.map((extensions) => der(0xa3, extensions)),
    );
    return pem('CERTIFICATE', sequence(body, algorithm, bitString(sign('sha256', body, this.#key))));
  }
}

/** Of the attribute with the extensions that are asked for: OID, SET of one. */
const extensionsOf = (attributes: Buffer) => derParts(derParts(derParts(attributes)[0]!.content)[1]!.content)[0]!.whole;

const time = (ms: number) =>
  der(0x17, Buffer.from(`${new Date(ms).toISOString().slice(2, 19).replaceAll(/[-:T]/g, '')}Z`));

type Csr = KubeObject & {
  spec: { request: string; signerName: string; usages: string[] };
  status?: { conditions?: object[]; certificate?: string };
};

/** What of a client requests for certificates need; nothing is answered before `answer` says what. */
export class FakeSigning {
  readonly requests = new Map<string, Csr>();
  readonly authority = new TestAuthority();
  /** What the next call fails with. */
  failNext: Error | undefined;
  #told = Promise.withResolvers<void>();

  readonly client = {
    create: async (_resource: unknown, object: KubeObject) => {
      this.#fail();
      const name = `${object.metadata.generateName}${createHash('sha1').update(randomUUID()).digest('hex').slice(0, 5)}`;
      const made = { ...object, metadata: { name, uid: randomUUID() } } as Csr;
      this.requests.set(name, made);
      this.#tell();
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

  /** Approves, signs, or refuses: whatever the status says. */
  answer(name: string, status: Csr['status']): void {
    this.requests.set(name, { ...this.requests.get(name)!, status });
    this.#tell();
  }

  /** Approves and signs. */
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

  #tell(): void {
    this.#told.resolve();
    this.#told = Promise.withResolvers();
  }

  async *#watch(name: string, signal: AbortSignal): AsyncGenerator<WatchEvent<Csr>> {
    const ended = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    while (!signal.aborted) {
      const object = this.requests.get(name);
      if (object !== undefined) yield { type: 'MODIFIED', object };
      await Promise.race([this.#told.promise, ended]);
    }
    throw signal.reason;
  }
}

const nameIn = (selector = '') => selector.replace('metadata.name=', '');
