import { Resolver } from 'node:dns/promises';
import { connect, isIP } from 'node:net';
import { hostname } from 'node:os';
import { errorMessage, isRecord, PodwrightError } from '@podwright/base';
import { pathOf } from '@podwright/kube-api';
import { MAX_TRIED_ADDRESSES, TRY_TIMEOUT_MS } from '../limits.ts';
import { type JsonCalls, unlessForbidden } from '../upstream/json-calls.ts';

const SERVICES = { group: '', version: 'v1', plural: 'services', namespaced: true };
/** The Service of the cluster's DNS server. It is named `kube-dns` even if the server is CoreDNS. */
const NAME_SERVICE = pathOf(SERVICES, { namespace: 'kube-system', name: 'kube-dns' });
const CLUSTER_DOMAIN = 'cluster.local';

export type ServiceToTry = { namespace: string; service: string; port: number };

/** The response to `POST dashboard/try`. The fields are described in README.md. */
export type TryResult = {
  from: string;
  dns: { name: string; server?: string; addresses: string[]; ms: number; error?: string };
  connects: { address: string; port: number; ms: number; error?: string }[];
};

/**
 * Resolves the name of a Service using the cluster's DNS server, and connects to the Service's cluster IPs, except loopback and link-local
 * addresses. Rejects with `not_found` if the Service or the port does not exist.
 */
export async function tryService(
  calls: JsonCalls,
  { namespace, service, port }: ServiceToTry,
  signal: AbortSignal,
): Promise<TryResult> {
  const { spec } = await calls.get(pathOf(SERVICES, { namespace, name: service }), signal);
  const fields = isRecord(spec) ? spec : {};
  const ports = Array.isArray(fields.ports) ? (fields.ports as { port?: unknown; protocol?: unknown }[]) : [];
  const found = ports.find((one) => one.port === port);
  if (found === undefined) throw new PodwrightError('not_found', `the Service ${service} has no port ${port}`);
  const name = `${service}.${namespace}.svc.${CLUSTER_DOMAIN}`;
  const server = await nameServer(calls, signal);
  const dns = await lookUp(name, server);
  const isTcp = found.protocol === undefined || found.protocol === 'TCP';
  const addresses = isTcp ? addressesOf(fields).slice(0, MAX_TRIED_ADDRESSES) : [];
  const connects = await Promise.all(addresses.map((address) => tryConnect(address, port)));
  return { from: hostname(), dns, connects };
}

/** Returns the cluster IPs of a Service; none if it is headless. */
export function addressesOf({ clusterIP, clusterIPs }: Record<string, unknown>): string[] {
  const given = Array.isArray(clusterIPs) ? clusterIPs : [clusterIP];
  return given.filter((address): address is string => typeof address === 'string' && isConnectable(address));
}

/** Whether a text is an IP address, but not a loopback, link-local or unspecified one. */
function isConnectable(address: string): boolean {
  if (isIP(address) === 0) return false;
  return !/^(?:127\.|169\.254\.|0\.|::1$|::$|::ffff:|fe[89ab])/i.test(address);
}

/** Returns the address of the cluster's DNS server, or undefined if its Service does not exist or the user may not read it. */
async function nameServer(calls: JsonCalls, signal: AbortSignal): Promise<string | undefined> {
  const found = await unlessForbidden(calls.get(NAME_SERVICE, signal));
  const [address] = addressesOf(isRecord(found?.spec) ? found.spec : {});
  return address;
}

async function lookUp(name: string, server: string | undefined): Promise<TryResult['dns']> {
  if (server === undefined)
    return {
      name,
      addresses: [],
      ms: 0,
      error: 'the name server is unknown: no Service kube-system/kube-dns can be read',
    };
  const resolver = new Resolver({ timeout: TRY_TIMEOUT_MS, tries: 1 });
  resolver.setServers([isIP(server) === 6 ? `[${server}]:53` : `${server}:53`]);
  const start = performance.now();
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const ms = performance.now() - start;
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const [first] = answers;
  if (addresses.length > 0 || first.status === 'fulfilled') return { name, server, addresses, ms };
  return { name, server, addresses, ms, error: errorMessage(first.reason) };
}

async function tryConnect(address: string, port: number): Promise<TryResult['connects'][number]> {
  const start = performance.now();
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const socket = connect({ host: address, port, timeout: TRY_TIMEOUT_MS });
  socket.once('connect', () => resolve(undefined));
  socket.once('timeout', () => resolve(`no answer within ${TRY_TIMEOUT_MS / 1000} s`));
  socket.once('error', (error) => resolve(errorMessage(error)));
  const error = await promise;
  socket.destroy();
  const ms = performance.now() - start;
  return error === undefined ? { address, port, ms } : { address, port, ms, error };
}
