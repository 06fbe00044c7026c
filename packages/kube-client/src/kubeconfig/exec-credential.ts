import { isRecord, PodwrightError } from '@podwright/base';
import type { TlsOptions } from '../transport/http-exchange.ts';
import type { Cluster, ExecConfig } from './parse-kubeconfig.ts';
import { checkKey } from './read-material.ts';

/** Credentials returned by a credential plugin. */
export type ExecCredential = {
  token?: string;
  certificate?: { certificate: string; key: string };
  /** Unix time in ms; `undefined` if the credentials are valid until the server rejects them. */
  expiresAtMs?: number;
};

/** Returns the value of KUBERNETES_EXEC_INFO for a credential plugin (client.authentication.k8s.io ExecCredential). */
export function execInfo({ apiVersion, provideClusterInfo }: ExecConfig, cluster: Cluster, tls: TlsOptions): string {
  const clusterInfo = {
    server: cluster.server,
    ...(cluster.serverName === undefined ? {} : { 'tls-server-name': cluster.serverName }),
    ...(cluster.insecureSkipTlsVerify ? { 'insecure-skip-tls-verify': true } : {}),
    ...(tls.ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(tls.ca).toString('base64') }),
    ...(cluster.execConfig === undefined ? {} : { config: cluster.execConfig }),
  };
  const spec = { interactive: false, ...(provideClusterInfo ? { cluster: clusterInfo } : {}) };
  return JSON.stringify({ kind: 'ExecCredential', apiVersion, spec });
}

/** Decodes a credential plugin's output. Errors begin with `what` and never quote the output. */
export function decodeExecCredential(what: string, { apiVersion }: ExecConfig, stdout: string): ExecCredential {
  const refuse = (problem: string) => new PodwrightError('failed_precondition', `${what}: ${problem}`);
  const answer = parse(stdout);
  if (!isRecord(answer) || answer.kind !== 'ExecCredential')
    throw refuse('its output is not an ExecCredential in JSON');
  if (answer.apiVersion !== apiVersion)
    throw refuse(`its output is not in version ${apiVersion}, which the kubeconfig specifies`);
  const { status } = answer;
  if (!isRecord(status)) throw refuse('its output has no status');
  const [token, certificate, key] = ['token', 'clientCertificateData', 'clientKeyData'].map((name) => {
    const value = status[name] ?? '';
    if (typeof value !== 'string') throw refuse(`its status.${name} is not a string`);
    return value;
  }) as [string, string, string];
  if (token === '' && certificate === '' && key === '')
    throw refuse('it returned neither a token nor a certificate with its key');
  if ((certificate === '') !== (key === ''))
    throw refuse('it returned only one of clientCertificateData and clientKeyData');
  if (certificate !== '') checkKey(certificate, key, `${what}: clientKeyData: `);
  if (/[^\x21-\x7e]/.test(token)) throw refuse('its token has invalid characters');
  return {
    ...(token === '' ? {} : { token }),
    ...(certificate === '' ? {} : { certificate: { certificate, key } }),
    ...expiry(status.expirationTimestamp, refuse),
  };
}

function expiry(timestamp: unknown, refuse: (problem: string) => Error): { expiresAtMs?: number } {
  if (timestamp === undefined || timestamp === null) return {};
  const expiresAtMs = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  if (Number.isNaN(expiresAtMs))
    throw refuse('its status.expirationTimestamp is not a time such as 2030-01-02T03:04:05Z');
  return { expiresAtMs };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
