/** Creates CertificateSigningRequests (certificates.k8s.io/v1) and waits for them to be signed. */
import { errorCode, errorMessage, type Logger, PodwrightError, sleep } from '@podwright/base';
import type { KubeObject } from '@podwright/kube-api';
import { CERTIFICATE_SIGNING_REQUESTS, isApiStatus, type KubeClient } from '@podwright/kube-client';
import { CERTIFICATE_WATCH_SECONDS, MAX_CERTIFICATE_BYTES, SIGNING_RETRY_MS } from './limits.ts';

/** The signer, which determines what the certificate may be used for. */
export type SignerName = 'kubernetes.io/kube-apiserver-client-kubelet' | 'kubernetes.io/kubelet-serving';

/** Identifies a CertificateSigningRequest. */
export type RequestName = { name: string; uid: string };

export type Verdict =
  | { kind: 'waiting' }
  /** `certificate` is in PEM format. */
  | { kind: 'issued'; certificate: string }
  /** A final state: the request was denied, has failed or was deleted. */
  | { kind: 'refused'; reason: string };

type SigningRequest = KubeObject & {
  status?: { conditions?: unknown; certificate?: unknown };
};

const USAGES: Record<SignerName, string> = {
  'kubernetes.io/kube-apiserver-client-kubelet': 'client auth',
  'kubernetes.io/kubelet-serving': 'server auth',
};

/** Creates a CertificateSigningRequest; `request` is in PEM format. */
export async function createSigningRequest(
  client: KubeClient,
  { request, signer, byToken }: { request: string; signer: SignerName; byToken: boolean },
  signal: AbortSignal,
): Promise<RequestName> {
  const object = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: CERTIFICATE_SIGNING_REQUESTS.kind,
    metadata: { generateName: 'csr-' },
    spec: {
      request: Buffer.from(request).toString('base64'),
      signerName: signer,
      usages: ['digital signature', USAGES[signer]],
    },
  };
  const { metadata } = await client
    .create<SigningRequest>(CERTIFICATE_SIGNING_REQUESTS, object, { signal })
    .catch((error: unknown) => {
      if (!byToken || !isApiStatus(error, 401)) throw error;
      const why =
        'the API server does not accept the credentials: the bootstrap token has expired, or is of another cluster';
      throw new PodwrightError('unauthenticated', `${errorMessage(error)}: ${why}`, { cause: error });
    });
  if (!metadata?.name || !metadata.uid)
    throw new PodwrightError(
      'internal',
      'create a certificate signing request: the API server answered without a name or uid',
    );
  return { name: metadata.name, uid: metadata.uid };
}

/**
 * Waits until a request has been approved and signed, and returns the certificate. Rejects with `failed_precondition` if the request is
 * refused, with `unauthenticated` if the API server no longer accepts the credentials, and otherwise with the signal's reason.
 */
export async function awaitCertificate(
  client: KubeClient,
  request: RequestName,
  { signal, logger }: { signal: AbortSignal; logger: Logger },
): Promise<string> {
  for (;;) {
    try {
      const verdict = await nextVerdict(client, request, signal);
      if (verdict.kind === 'issued') return verdict.certificate;
      if (verdict.kind === 'refused')
        throw new PodwrightError(
          'failed_precondition',
          `certificate signing request ${request.name}: ${verdict.reason}`,
        );
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (['failed_precondition', 'unauthenticated'].includes(errorCode(error))) throw error;
      logger.debug(
        { csr: request.name, error: errorMessage(error) },
        'the certificate signing request cannot be watched',
      );
    }
    await sleep(SIGNING_RETRY_MS, signal);
  }
}

/** Lists and then watches a CertificateSigningRequest until it is issued or refused. Returns `waiting` if the watch ends before that. */
async function nextVerdict(client: KubeClient, request: RequestName, signal: AbortSignal): Promise<Verdict> {
  const selection = { fieldSelector: `metadata.name=${request.name}` };
  const { items, metadata } = await client.list<SigningRequest>(CERTIFICATE_SIGNING_REQUESTS, selection, { signal });
  const listed = items[0] === undefined ? REMOVED : verdictOf(items[0], request.uid);
  if (listed.kind !== 'waiting') return listed;
  const options = {
    ...selection,
    resourceVersion: metadata.resourceVersion,
    timeoutSeconds: CERTIFICATE_WATCH_SECONDS,
  };
  for await (const event of client.watch<SigningRequest>(CERTIFICATE_SIGNING_REQUESTS, options, signal)) {
    if (event.type === 'BOOKMARK') continue;
    const verdict = event.type === 'DELETED' ? REMOVED : verdictOf(event.object, request.uid);
    if (verdict.kind !== 'waiting') return verdict;
  }
  return { kind: 'waiting' };
}

const REMOVED: Verdict = { kind: 'refused', reason: 'it was deleted' };

/** Returns from the status of a CertificateSigningRequest whether its certificate is issued, refused or still awaited. Pure. */
export function verdictOf({ metadata, status }: SigningRequest, uid: string): Verdict {
  if (metadata?.uid !== uid) return { kind: 'refused', reason: 'it was deleted, and another has its name' };
  const conditions = (Array.isArray(status?.conditions) ? status.conditions : []) as Record<string, unknown>[];
  const of = (type: string) => conditions.find((condition) => condition?.type === type);
  for (const [type, text] of [
    ['Denied', 'it is denied'],
    ['Failed', 'it failed'],
  ] as const) {
    const condition = of(type);
    if (condition === undefined) continue;
    const why = [condition.reason, condition.message].filter((text) => typeof text === 'string' && text !== '');
    return { kind: 'refused', reason: `${text}: ${why.join(': ').slice(0, MAX_REASON_LENGTH) || 'no reason given'}` };
  }
  const certificate = status?.certificate;
  if (of('Approved') === undefined || typeof certificate !== 'string' || certificate === '') return { kind: 'waiting' };
  if (certificate.length > MAX_CERTIFICATE_BYTES)
    return { kind: 'refused', reason: `its certificate has more than ${MAX_CERTIFICATE_BYTES} bytes` };
  return { kind: 'issued', certificate: Buffer.from(certificate, 'base64').toString('latin1') };
}

const MAX_REASON_LENGTH = 500;

/** Whether the certificate request still exists and was neither denied nor has failed. */
export async function isOpen(client: KubeClient, request: RequestName, signal: AbortSignal): Promise<boolean> {
  try {
    const found = await client.get<SigningRequest>(CERTIFICATE_SIGNING_REQUESTS, { name: request.name }, { signal });
    return verdictOf(found, request.uid).kind !== 'refused';
  } catch (error) {
    if (isApiStatus(error, 404) || isApiStatus(error, 403)) return false;
    throw error;
  }
}
