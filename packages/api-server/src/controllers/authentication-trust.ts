/**
 * Maintains the ConfigMap that extension API servers use to verify connections from this server and from clients (upstream,
 * controlplane/controller/clusterauthenticationtrust).
 */
import { X509Certificate } from 'node:crypto';
import type { StoreEvent } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import type { ControllerParts } from './controller-parts.ts';
import { followResource } from './follow-resource.ts';
import { ignoreOvertaken } from './ignore-overtaken.ts';

const PLACE = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };
const KEY = `${PLACE.namespace}/${PLACE.name}`;
const MANAGER = 'kube-apiserver';

export type AuthenticationTrust = {
  /** The CA that issues client certificates, PEM. */
  clientAuthority: string;
  /** The CA of the certificate that this server presents to extension API servers, PEM, and the names in that certificate. */
  proxyAuthority: string;
  proxyNames: readonly string[];
  /** Names of the headers that pass the user's attributes to extension API servers. */
  headers: { user: string; uid: string; group: string; extraPrefix: string };
};

type Data = Record<string, string>;

/** Creates the ConfigMap and restores missing values after changes, until the signal aborts. */
export async function keepAuthenticationTrust(
  parts: ControllerParts & { trust: AuthenticationTrust; now: () => number },
): Promise<void> {
  const { store, registryOf, context, trust, now } = parts;
  const ensure = async () => {
    const present = store.get({ resource: 'configmaps', ...PLACE })?.decode();
    const data = trustData((present?.data ?? {}) as Data, trust, now());
    if (JSON.stringify(present?.data) === JSON.stringify(data)) return;
    const written = { ...context(), fieldManager: MANAGER };
    const object: ApiObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...PLACE }, data };
    const registry = registryOf('configmaps');
    if (present === undefined) await registry.create(PLACE.namespace, object, written).catch(ignoreOvertaken);
    else await registry.change(PLACE, (one) => ({ ...one, data }), written).catch(ignoreOvertaken);
  };
  const changed = async ({ object }: StoreEvent) => {
    if (object.key === KEY) await ensure();
  };
  await followResource('configmaps', { listed: ensure, changed }, parts);
}

/** Returns the data of the ConfigMap. Like upstream, keeps values added by other servers. */
export function trustData(present: Data, trust: AuthenticationTrust, nowMs: number): Data {
  const { headers, proxyNames } = trust;
  const certificates = (key: string, own: string) => combinedCertificates(present[key] ?? '', own, nowMs);
  const names = (key: string, ...own: readonly string[]) =>
    JSON.stringify([...new Set([...namesIn(present[key] ?? ''), ...own])]);
  return {
    'client-ca-file': certificates('client-ca-file', trust.clientAuthority),
    'requestheader-allowed-names': names('requestheader-allowed-names', ...proxyNames),
    'requestheader-client-ca-file': certificates('requestheader-client-ca-file', trust.proxyAuthority),
    'requestheader-extra-headers-prefix': names('requestheader-extra-headers-prefix', headers.extraPrefix),
    'requestheader-group-headers': names('requestheader-group-headers', headers.group),
    'requestheader-uid-headers': names('requestheader-uid-headers', headers.uid),
    'requestheader-username-headers': names('requestheader-username-headers', headers.user),
  };
}

/** Returns the strings in a JSON list; none if it is malformed. */
function namesIn(text: string): string[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}

/** How long expired certificates are retained in the ConfigMap, as in upstream, because clocks differ. */
const SLACK_MS = 5 * 60_000;

/** Returns the certificates of `present` and `own`, without duplicates and expired certificates. */
function combinedCertificates(present: string, own: string, nowMs: number): string {
  const found = [present, own].flatMap((text) =>
    text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g),
  );
  const valid = found.filter((one): one is string => one !== null && isValid(one, nowMs));
  return [...new Set(valid.map((one) => `${one}\n`))].join('');
}

function isValid(certificate: string, nowMs: number): boolean {
  try {
    return new X509Certificate(certificate).validToDate.getTime() > nowMs - SLACK_MS;
  } catch {
    return false;
  }
}
