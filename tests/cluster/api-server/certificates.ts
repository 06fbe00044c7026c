/** A certificate authority: certificates for servers and clients, and for signing requests (PKCS#10). */
import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';

import {
  bitString,
  contextTag,
  type DerValue,
  der,
  integer,
  objectIdentifier,
  octetString,
  readAll,
  readObjectIdentifier,
  sequence,
  TRUE,
  time,
} from '../../../packages/certificates/src/der.ts';
import {
  alternativeNames,
  distinguishedName,
  extendedKeyUsage,
  extension,
  OID,
  pem,
  serialNumber,
} from '../../../packages/certificates/src/x509.ts';

/** A certificate and its key, PEM. */
export type KeyPair = { certificate: string; key: string };

export type Subject = { commonName: string; organizations?: string[] };

type CertificateFields = {
  /** DER of the subject's name. */
  subject: Buffer;
  publicKey: KeyObject;
  extensions: Buffer[];
  notBefore: Date;
  notAfter: Date;
};

const SIGNATURE_HASHES: Record<string, string | null> = {
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.3.101.112': null,
};

/** Bits of keyUsage, from the highest: digitalSignature, keyEncipherment, keyCertSign. */
const LEAF_USAGE = { bits: 0b1010_0000, unused: 5 };
const AUTHORITY_USAGE = { bits: 0b0000_0100, unused: 2 };
/** Clients' clocks may be slightly behind. */
const BEFORE_MS = 5 * 60_000;
const DAY_MS = 86_400_000;

export class CertificateAuthority {
  readonly #key: KeyObject;
  readonly #name: Buffer;
  readonly #publicKey: KeyObject;
  /** PEM of the authority's own certificate. */
  readonly certificate: string;

  constructor(commonName: string) {
    const { privateKey, publicKey } = newKey();
    this.#key = privateKey;
    this.#publicKey = publicKey;
    this.#name = distinguishedName({ commonName });
    const extensions = [
      extension(OID.basicConstraints, sequence(TRUE), true),
      usageExtension(AUTHORITY_USAGE),
      extension(OID.subjectKeyIdentifier, octetString(keyIdentifier(publicKey))),
    ];
    this.certificate = this.#issue({ subject: this.#name, publicKey, extensions, ...validFor(365 * DAY_MS) });
  }

  /** The authority's key, for programs that sign certificates themselves. PEM. */
  get key(): string {
    return pemOf(this.#key);
  }

  /** A client certificate. */
  client(subject: Subject, lifeMs: number = DAY_MS): KeyPair {
    return this.#pair(subject, [extendedKeyUsage(OID.clientAuth)], lifeMs);
  }

  /** A server certificate for names and addresses. */
  server(subject: Subject, hosts: string[], lifeMs: number = DAY_MS): KeyPair {
    const extensions = [extendedKeyUsage(OID.serverAuth, OID.clientAuth), alternativeNames(hosts)];
    return this.#pair(subject, extensions, lifeMs);
  }

  /** Signs a parsed signing request with its key and names, for a purpose. PEM. */
  sign(request: SigningRequest, purposes: 'client' | 'server', lifeMs: number): string {
    const alternative = request.alternativeNames;
    const extensions = [
      usageExtension(LEAF_USAGE),
      extension(OID.basicConstraints, sequence(), true),
      extendedKeyUsage(purposes === 'client' ? OID.clientAuth : OID.serverAuth),
      ...(alternative === undefined ? [] : [extension(OID.alternativeName, alternative)]),
    ];
    const { subject, publicKey } = request;
    return this.#issue({ subject, publicKey, extensions, ...validFor(lifeMs) });
  }

  #pair(subject: Subject, more: Buffer[], lifeMs: number): KeyPair {
    const { privateKey, publicKey } = newKey();
    const extensions = [usageExtension(LEAF_USAGE), extension(OID.basicConstraints, sequence(), true), ...more];
    const certificate = this.#issue({
      subject: distinguishedName(subject),
      publicKey,
      extensions,
      ...validFor(lifeMs),
    });
    return { certificate, key: pemOf(privateKey) };
  }

  #issue({ subject, publicKey, extensions, notBefore, notAfter }: CertificateFields): string {
    const algorithm = sequence(objectIdentifier(OID.ecdsaSha256));
    const byKey = sequence(der(contextTag(0, false), keyIdentifier(this.#publicKey)));
    const signed = sequence(
      der(contextTag(0), integer(Buffer.from([2]))),
      integer(serialNumber()),
      algorithm,
      this.#name,
      sequence(time(notBefore), time(notAfter)),
      subject,
      publicKey.export({ type: 'spki', format: 'der' }),
      der(contextTag(3), sequence(...extensions, extension(OID.authorityKeyIdentifier, byKey))),
    );
    const signature = sign('sha256', signed, this.#key);
    return pem('CERTIFICATE', sequence(signed, algorithm, bitString(signature)));
  }
}

/** A signing request with a valid signature. */
export type SigningRequest = {
  subject: Buffer;
  commonName: string;
  organizations: string[];
  publicKey: KeyObject;
  /** DER of the requested alternative names. */
  alternativeNames: Buffer | undefined;
};

/** Parses a request and verifies its signature; throws an `Error` with the problem. */
export function readSigningRequest(pemText: string): SigningRequest {
  const body = /-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----([^-]+)-----END/.exec(pemText)?.[1];
  if (body === undefined) throw new Error('no PEM block of type CERTIFICATE REQUEST');
  const [outer] = readAll(Buffer.from(body, 'base64'));
  const [info, algorithm, signature] = readAll(outer!.content);
  const [, subject, key, attributes] = readAll(info!.content);
  const publicKey = createPublicKey({ key: key!.whole, format: 'der', type: 'spki' });
  const hash = SIGNATURE_HASHES[readObjectIdentifier(readAll(algorithm!.content)[0]!)];
  if (hash === undefined) throw new Error('the signature of the request is of an unknown kind');
  if (!verify(hash, info!.whole, publicKey, signature!.content.subarray(1)))
    throw new Error('the signature of the request is wrong');
  const names = namesIn(subject!);
  return {
    subject: subject!.whole,
    commonName: names.get(OID.commonName)?.[0] ?? '',
    organizations: names.get(OID.organization) ?? [],
    publicKey,
    alternativeNames: attributes === undefined ? undefined : alternativeNamesIn(attributes),
  };
}

function namesIn(name: DerValue): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const set of readAll(name.content))
    for (const pair of readAll(set.content)) {
      const [type, value] = readAll(pair.content);
      const oid = readObjectIdentifier(type!);
      names.set(oid, [...(names.get(oid) ?? []), value!.content.toString('utf8')]);
    }
  return names;
}

function alternativeNamesIn(attributes: DerValue): Buffer | undefined {
  for (const attribute of readAll(attributes.content)) {
    const [type, values] = readAll(attribute.content);
    if (readObjectIdentifier(type!) !== OID.extensionRequest) continue;
    const [extensions] = readAll(values!.content);
    for (const one of readAll(extensions!.content)) {
      const parts = readAll(one.content);
      if (readObjectIdentifier(parts[0]!) === OID.alternativeName) return parts.at(-1)!.content;
    }
  }
  return undefined;
}

const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });

const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

function validFor(lifeMs: number): { notBefore: Date; notAfter: Date } {
  const present = Date.now();
  return { notBefore: new Date(present - BEFORE_MS), notAfter: new Date(present + lifeMs) };
}

function keyIdentifier(key: KeyObject): Buffer {
  return createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest();
}

const usageExtension = ({ bits, unused }: { bits: number; unused: number }) =>
  extension(OID.keyUsage, bitString(Buffer.from([bits]), unused), true);
