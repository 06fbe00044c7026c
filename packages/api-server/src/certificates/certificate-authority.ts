import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { isShortage, makePrivateDirectory, PodwrightError, wrapError } from '@podwright/base';
import { bitString, sequence, TRUE } from '@podwright/certificates/der';
import { alternativeNames, distinguishedName, extendedKeyUsage, extension, OID } from '@podwright/certificates/x509';
import { pathExists, readRegularFile, removeUnfinished, writeFileDurable } from '@podwright/host';
import {
  type CertificateFields,
  issueCertificate,
  type Signer,
  type Subject,
  subjectKey,
} from './issue-certificate.ts';

/** A certificate and its private key, PEM. */
export type KeyPair = { certificate: string; key: string };

const FILE = 'authority.pem';
const MAX_FILE_BYTES = 64 << 10;
const COMMON_NAME = 'kubernetes';
const DAY_MS = 86_400_000;
const AUTHORITY_LIFE_MS = 3650 * DAY_MS;
const LEAF_LIFE_MS = 365 * DAY_MS;
/** Lifetime of client certificates. */
export const CLIENT_CERTIFICATE_LIFE_MS = LEAF_LIFE_MS;
/**
 * How far certificates are backdated. A client's clock might be behind. This host's clock might be ahead until it is synchronized, by its
 * time zone offset if the hardware clock is set to local time.
 */
const BEFORE_MS = DAY_MS;
/**
 * Bits of the keyUsage extension: digitalSignature and keyEncipherment for the certificates that the CA issues, and also keyCertSign for
 * the CA itself.
 */
const LEAF_USAGE = bitString(Buffer.from([0b1010_0000]), 5);
const AUTHORITY_USAGE = bitString(Buffer.from([0b1010_0100]), 2);

/** A certificate authority. Its certificate and key are stored in one file that only root can read. */
export class CertificateAuthority {
  readonly #signer: Signer;
  readonly #now: () => number;
  /** The CA's own certificate, PEM. */
  readonly certificate: string;

  private constructor({ certificate, key }: KeyPair, now: () => number, commonName: string) {
    const privateKey = createPrivateKey(key);
    const publicKey = createPublicKey(privateKey);
    if (!new X509Certificate(certificate).checkPrivateKey(privateKey))
      throw new Error('the key does not belong to the certificate');
    this.#signer = { name: distinguishedName({ commonName }), privateKey, publicKey };
    this.#now = now;
    this.certificate = certificate;
  }

  /**
   * Reads the authority from the directory. Creates the directory and the authority if they do not exist. If the authority's certificate is
   * not currently valid, for example because the clock was wrong when it was created, it is replaced by a valid one with the same key.
   * Throws `data_loss` if the file is damaged. `commonName`: the authority's own name. Default: that of the cluster's authority.
   */
  static async open(
    directory: string,
    now: () => number,
    commonName: string = COMMON_NAME,
  ): Promise<CertificateAuthority> {
    const path = join(directory, FILE);
    makePrivateDirectory(directory);
    await removeUnfinished(path);
    if (!(await pathExists(path))) await write(path, newAuthority(commonName, now()));
    const content = await readRegularFile(path, MAX_FILE_BYTES);
    const known = pairIn(content.toString());
    let authority: CertificateAuthority;
    try {
      authority = new CertificateAuthority(known, now, commonName);
    } catch (error) {
      throw wrapError(`read the certificate authority ${path}`, new PodwrightError('data_loss', String(error)));
    }
    const renewed = renewedAuthority(known, commonName, now());
    if (renewed === undefined) return authority;
    await write(path, renewed).catch((error: unknown) => {
      if (!isShortage(error)) throw error; // the next start tries again
    });
    return new CertificateAuthority(renewed, now, commonName);
  }

  /** Issues a client certificate: the common name is the user name, the organizations are the groups. */
  client(subject: Subject, lifeMs: number = LEAF_LIFE_MS): KeyPair {
    return this.#issue(subject, [extendedKeyUsage(OID.clientAuth)], lifeMs);
  }

  /** Issues a serving certificate for DNS names and IP addresses. */
  server(names: readonly string[]): KeyPair {
    const extensions = [extendedKeyUsage(OID.serverAuth), alternativeNames(names)];
    return this.#issue({ commonName: 'kube-apiserver' }, extensions, LEAF_LIFE_MS);
  }

  /** Signs a certificate, clamping its expiry to that of the CA. Returns PEM. */
  sign(fields: CertificateFields): string {
    const end = new X509Certificate(this.certificate).validToDate;
    const notAfter = new Date(Math.min(fields.notAfter.getTime(), end.getTime()));
    return issueCertificate(this.#signer, { ...fields, notAfter });
  }

  #issue(subject: Subject, more: readonly Buffer[], lifeMs: number): KeyPair {
    const { privateKey, publicKey } = newKey();
    const extensions = [
      extension(OID.keyUsage, LEAF_USAGE, true),
      extension(OID.basicConstraints, sequence(), true),
      ...more,
    ];
    const fields = { subject, publicKey, extensions, ...validity(this.#now(), lifeMs) };
    return { certificate: issueCertificate(this.#signer, fields), key: pemOf(privateKey) };
  }
}

const write = (path: string, { certificate, key }: KeyPair): Promise<void> => writeFileDurable(path, certificate + key);

function newAuthority(commonName: string, nowMs: number): KeyPair {
  const { privateKey } = newKey();
  const certificate = authorityCertificate(commonName, privateKey, validity(nowMs, AUTHORITY_LIFE_MS));
  return { certificate, key: pemOf(privateKey) };
}

/**
 * Returns the CA with a renewed certificate, or `undefined` if its present certificate is valid and outlasts the certificates it signs. The
 * validity period is only ever extended, because the clock might be wrong now.
 */
function renewedAuthority({ certificate, key }: KeyPair, commonName: string, nowMs: number): KeyPair | undefined {
  const { validFromDate: from, validToDate: to } = new X509Certificate(certificate);
  if (from.getTime() <= nowMs && nowMs + LEAF_LIFE_MS <= to.getTime()) return undefined;
  const { notBefore, notAfter } = validity(nowMs, AUTHORITY_LIFE_MS);
  const extended = {
    notBefore: new Date(Math.min(from.getTime(), notBefore.getTime())),
    notAfter: new Date(Math.max(to.getTime(), notAfter.getTime())),
  };
  return { certificate: authorityCertificate(commonName, createPrivateKey(key), extended), key };
}

type Validity = { notBefore: Date; notAfter: Date };

function authorityCertificate(commonName: string, privateKey: KeyObject, valid: Validity): string {
  const subject = { commonName };
  const publicKey = createPublicKey(privateKey);
  const signer = { name: distinguishedName(subject), privateKey, publicKey };
  const extensions = [
    extension(OID.basicConstraints, sequence(TRUE), true),
    extension(OID.keyUsage, AUTHORITY_USAGE, true),
    subjectKey(publicKey),
  ];
  return issueCertificate(signer, { subject, publicKey, extensions, ...valid });
}

/** Extracts the certificate and the key from a PEM file. */
function pairIn(text: string): KeyPair {
  const block = (label: string) =>
    new RegExp(`-----BEGIN ${label}-----[^-]+-----END ${label}-----\\n?`).exec(text)?.[0] ?? '';
  return { certificate: block('CERTIFICATE'), key: block('PRIVATE KEY') };
}

const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });

const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

const validity = (nowMs: number, lifeMs: number) => ({
  notBefore: new Date(nowMs - BEFORE_MS),
  notAfter: new Date(nowMs + lifeMs),
});
