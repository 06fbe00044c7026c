/** The CA's signers: which requests they sign, and the certificates they issue (upstream's csrsigning). */
import { createPublicKey } from 'node:crypto';
import { bitString, sequence } from '@podwright/certificates/der';
import { extendedKeyUsage, extension, OID } from '@podwright/certificates/x509';
import type { CertificateAuthority } from './certificate-authority.ts';
import type { CertificateRequest, RequestedName } from './certificate-request.ts';

export const KUBELET_CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet';

export type SignedRequest = { request: CertificateRequest; usages: readonly string[] };

const NODE = 'system:node:';
const NODES = 'system:nodes';

const DIGITAL_SIGNATURE = 'digital signature';
const KEY_ENCIPHERMENT = 'key encipherment';
const CLIENT_AUTH = 'client auth';
const SERVER_AUTH = 'server auth';

/** The signers by name. Each value is a function that returns why the signer rejects a request, in upstream's words. */
const SIGNERS: Readonly<Record<string, (signed: SignedRequest) => string | undefined>> = {
  'kubernetes.io/kube-apiserver-client': refusalForClient,
  [KUBELET_CLIENT_SIGNER]: refusalForKubeletClient,
  'kubernetes.io/kubelet-serving': refusalForKubeletServing,
};

export const isSigner = (name: string): boolean => Object.hasOwn(SIGNERS, name);

/** Returns why the signer rejects the request, or `undefined` if it does not. The signer must exist. */
export function refusalOf(signer: string, signed: SignedRequest): string | undefined {
  return (
    SIGNERS[signer]!(signed) ?? (signed.request.subject.commonName === '' ? 'subject has no common name' : undefined)
  );
}

function refusalForClient({ usages }: SignedRequest): string | undefined {
  const invalid = usages.find((usage) => ![DIGITAL_SIGNATURE, KEY_ENCIPHERMENT, CLIENT_AUTH].includes(usage));
  if (invalid !== undefined) return `invalid usage for client certificate: ${invalid}`;
  return usages.includes(CLIENT_AUTH) ? undefined : `missing required usage for client certificate: ${CLIENT_AUTH}`;
}

function refusalForKubeletClient({ request, usages }: SignedRequest): string | undefined {
  const has = (type: RequestedName['type']) => request.names.some((name) => name.type === type);
  if (!isOfNodes(request)) return 'subject organization is not system:nodes';
  if (has('dns')) return 'DNS subjectAltNames are not allowed';
  if (has('email')) return 'Email subjectAltNames are not allowed';
  if (has('ip')) return 'IP subjectAltNames are not allowed';
  if (has('uri')) return 'URI subjectAltNames are not allowed';
  return refusalOfNode(request) ?? refusalOfUsages(usages, CLIENT_AUTH);
}

function refusalForKubeletServing({ request, usages }: SignedRequest): string | undefined {
  const has = (type: RequestedName['type']) => request.names.some((name) => name.type === type);
  if (!isOfNodes(request)) return 'subject organization is not system:nodes';
  if (!has('dns') && !has('ip')) return 'DNS or IP subjectAltName is required';
  if (has('email')) return 'Email subjectAltNames are not allowed';
  if (has('uri')) return 'URI subjectAltNames are not allowed';
  return refusalOfUsages(usages, SERVER_AUTH) ?? refusalOfNode(request);
}

const isOfNodes = ({ subject }: CertificateRequest): boolean =>
  subject.organizations.length === 1 && subject.organizations[0] === NODES;

const refusalOfNode = ({ subject }: CertificateRequest): string | undefined =>
  subject.commonName.startsWith(NODE) ? undefined : `subject common name does not begin with ${NODE}`;

/**
 * Returns why the requested usages are rejected for a node certificate, or `undefined` if they are not. They are fixed, except that key
 * encipherment (for RSA keys) is optional.
 */
function refusalOfUsages(usages: readonly string[], purpose: string): string | undefined {
  const required = [DIGITAL_SIGNATURE, purpose];
  const all = [KEY_ENCIPHERMENT, ...required].sort();
  const isAllowed = required.every((usage) => usages.includes(usage)) && usages.every((usage) => all.includes(usage));
  return isAllowed ? undefined : `usages did not match [${all.join(' ')}]`;
}

/** Maximum lifetime of signed certificates: the default of upstream's `--cluster-signing-duration`, one year. */
const MAX_LIFE_MS = 365 * 86_400_000;
const MIN_LIFE_MS = 600_000;
/** Certificates are backdated because clients' clocks may be behind. As in upstream, this does not shorten short lifetimes. */
const BEFORE_MS = 300_000;
const SHORT_LIFE_MS = 8 * 3_600_000;

const USAGE_BITS: Readonly<Record<string, number>> = { [DIGITAL_SIGNATURE]: 0x80, [KEY_ENCIPHERMENT]: 0x20 };
const PURPOSES: Readonly<Record<string, string>> = { [CLIENT_AUTH]: OID.clientAuth, [SERVER_AUTH]: OID.serverAuth };

/**
 * Issues the certificate for a request accepted by its signer. Only the common name and the organizations are copied from the subject,
 * because only they identify a user.
 */
export function signRequest(
  authority: CertificateAuthority,
  { request, usages }: SignedRequest,
  { nowMs, expirationSeconds }: { nowMs: number; expirationSeconds: number | undefined },
): string {
  const requestedMs = expirationSeconds === undefined ? MAX_LIFE_MS : expirationSeconds * 1000;
  const lifeMs = Math.max(MIN_LIFE_MS, Math.min(requestedMs, MAX_LIFE_MS));
  return authority.sign({
    subject: request.subject,
    publicKey: createPublicKey({ key: request.publicKey, format: 'der', type: 'spki' }),
    extensions: extensionsOf({ request, usages }),
    notBefore: new Date(nowMs - BEFORE_MS),
    notAfter: new Date(nowMs + (lifeMs < SHORT_LIFE_MS ? lifeMs : lifeMs - BEFORE_MS)),
  });
}

function extensionsOf({ request, usages }: SignedRequest): Buffer[] {
  const bits = usages.reduce((sum, usage) => sum | (USAGE_BITS[usage] ?? 0), 0);
  const purposes = usages.flatMap((usage) => PURPOSES[usage] ?? []);
  const unusedBits = bits === 0x80 ? 7 : 5;
  const names = request.names.map(({ encoded }) => encoded);
  return [
    ...(bits === 0 ? [] : [extension(OID.keyUsage, bitString(Buffer.from([bits]), unusedBits), true)]),
    extendedKeyUsage(...purposes),
    extension(OID.basicConstraints, sequence(), true),
    ...(names.length === 0 ? [] : [extension(OID.alternativeName, sequence(...names))]),
  ];
}
