import { createHash, type X509Certificate } from 'node:crypto';
import type { UserInfo } from '@podwright/kube-kinds';
import { CREDENTIAL_ID, RefusedCredential, type TlsPeer } from './authenticator.ts';

/** Subject attribute for the user's UID (apimachinery, apis/asn1). */
const UID = '1.3.6.1.4.1.57683.2';

/** The user identified by a certificate, and the certificate's validity period (Unix time in ms). */
type CertifiedUser = { user: UserInfo | undefined; fromMs: number; untilMs: number };

/** Determines users from client certificates verified by the TLS layer. */
export class ClientCertificates {
  /** Users by connection. Parsing a certificate takes 0.3 ms, so it is done once per connection. */
  readonly #users = new WeakMap<TlsPeer, CertifiedUser>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Returns the user: the common name is the user name, the organizations are the groups. Returns `undefined` if the client sent no
   * certificate or one without a common name. Throws `RefusedCredential` if the certificate is invalid. Checks the validity period on every
   * request, because connections can outlive their certificates.
   */
  userOf(peer: TlsPeer): UserInfo | undefined {
    const certified = this.#users.get(peer) ?? readUser(peer);
    if (certified === undefined) return undefined;
    this.#users.set(peer, certified);
    const nowMs = this.#now();
    if (nowMs < certified.fromMs) throw new RefusedCredential('the client certificate is not yet valid');
    if (nowMs > certified.untilMs) throw new RefusedCredential('the client certificate has expired');
    return certified.user;
  }
}

function readUser(peer: TlsPeer): CertifiedUser | undefined {
  const certificate = peer.getPeerX509Certificate();
  if (certificate === undefined) return undefined;
  if (!peer.authorized) throw new RefusedCredential('the client certificate was not signed by the CA of the cluster');
  return {
    user: userOfSubject(certificate),
    fromMs: certificate.validFromDate.getTime(),
    untilMs: certificate.validToDate.getTime(),
  };
}

type Attributes = Readonly<Record<string, string | string[] | undefined>>;

function userOfSubject(certificate: X509Certificate): UserInfo | undefined {
  const subject = (certificate.toLegacyObject().subject ?? {}) as Attributes;
  const username = valuesOf(subject, 'CN').at(-1);
  if (!username) return undefined;
  const uid = uidOf(subject);
  const fingerprint = createHash('sha256').update(certificate.raw).digest('hex');
  return {
    username,
    ...(uid === undefined ? {} : { uid }),
    groups: valuesOf(subject, 'O'),
    extra: { [CREDENTIAL_ID]: [`X509SHA256=${fingerprint}`] },
  };
}

function uidOf(subject: Attributes): string | undefined {
  const [uid, ...others] = valuesOf(subject, UID);
  if (others.length > 0)
    throw new RefusedCredential(`expected 1 UID, but found multiple: [${[uid, ...others].join(' ')}]`);
  if (uid === '') throw new RefusedCredential('UID cannot be an empty string');
  return uid;
}

/** Returns the values of a subject attribute, in the subject's order. */
function valuesOf(subject: Attributes, attribute: string): string[] {
  const values = Object.hasOwn(subject, attribute) ? subject[attribute] : undefined;
  return values === undefined ? [] : [values].flat();
}
