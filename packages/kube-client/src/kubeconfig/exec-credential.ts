import { isRecord, PodwrightError } from '@podwright/base';
import type { TlsOptions } from '../transport/http-exchange.ts';
import type { Cluster, ExecConfig } from './parse-kubeconfig.ts';
import { checkKey } from './read-material.ts';

/** What a plugin has given. */
export type ExecCredential = {
  token?: string;
  certificate?: { certificate: string; key: string };
  /** In milliseconds since 1970; undefined where it holds until it is refused. */
  expiresAtMs?: number;
};

/** What a plugin is told in KUBERNETES_EXEC_INFO (client.authentication.k8s.io ExecCredential). */
export function execInfo({ apiVersion, provideClusterInfo }: ExecConfig, cluster: Cluster, tls: TlsOptions): string {
  const told = {
    server: cluster.server,
    ...(cluster.serverName === undefined ? {} : { 'tls-server-name': cluster.serverName }),
    ...(cluster.insecureSkipTlsVerify ? { 'insecure-skip-tls-verify': true } : {}),
    ...(tls.ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(tls.ca).toString('base64') }),
    ...(cluster.execConfig === undefined ? {} : { config: cluster.execConfig }),
  };
  const spec = { interactive: false, ...(provideClusterInfo ? { cluster: told } : {}) };
  return JSON.stringify({ kind: 'ExecCredential', apiVersion, spec });
}

/** A plugin's answer; `what` begins errors, which never tell what the plugin wrote. */
export function decodeExecCredential(what: string, { apiVersion }: ExecConfig, stdout: string): ExecCredential {
  const refuse = (problem: string) => new PodwrightError('failed_precondition', `${what}: ${problem}`);
  const answer = parse(stdout);
  if (!isRecord(answer) || answer.kind !== 'ExecCredential') throw refuse('what it wrote is no ExecCredential in JSON');
  if (answer.apiVersion !== apiVersion)
    throw refuse(`it answers in another version than ${apiVersion}, which the kubeconfig names`);
  const { status } = answer;
  if (!isRecord(status)) throw refuse('its answer has no status');
  const [token, certificate, key] = ['token', 'clientCertificateData', 'clientKeyData'].map((name) => {
    const value = status[name] ?? '';
    if (typeof value !== 'string') throw refuse(`its status.${name} is no text`);
    return value;
  }) as [string, string, string];
  if (token === '' && certificate === '' && key === '')
    throw refuse('it gave neither a token nor a certificate with its key');
  if ((certificate === '') !== (key === ''))
    throw refuse('it gave only one of clientCertificateData and clientKeyData');
  if (certificate !== '') checkKey(certificate, key, `${what}: clientKeyData: `);
  if (/[^\x21-\x7e]/.test(token)) throw refuse('its token has characters that no token has');
  return {
    ...(token === '' ? {} : { token }),
    ...(certificate === '' ? {} : { certificate: { certificate, key } }),
    ...expiry(status.expirationTimestamp, refuse),
  };
}

function expiry(timestamp: unknown, refuse: (problem: string) => Error): { expiresAtMs?: number } {
  if (timestamp === undefined || timestamp === null) return {};
  const expiresAtMs = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  if (Number.isNaN(expiresAtMs)) throw refuse('its status.expirationTimestamp is no time such as 2030-01-02T03:04:05Z');
  return { expiresAtMs };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
