/** Requests that are forwarded to a node: container logs, and paths of `nodes/NAME/proxy`. */
import { request as httpsRequest } from 'node:https';
import type { KeyPair } from './certificates.ts';
import { type ApiObject, at, listAt, textAt } from './json.ts';
import type { Registry } from './registry.ts';
import type { RequestInfo } from './request-info.ts';
import { placeOf, type ResourceRequest } from './resource-handler.ts';
import { coreKind } from './resource-kinds.ts';
import { badRequest, internalError } from './status-error.ts';

const PODS = coreKind('pods');
const NODES = coreKind('nodes');

type Target = { host: string; port: number; path: string };

/** Forwards the node's response as it arrives. */
export async function proxyToNode(request: ResourceRequest, { nodeClient }: { nodeClient: KeyPair }): Promise<void> {
  const { exchange } = request;
  const { host, port, path } = nodeTarget(request.registry, request.info, exchange.url.searchParams);
  await new Promise<void>((resolve, reject) => {
    const outgoing = httpsRequest({
      host,
      port,
      path,
      method: exchange.recorded.method,
      cert: nodeClient.certificate,
      key: nodeClient.key,
      rejectUnauthorized: false,
      signal: exchange.signal,
    });
    outgoing.on('error', (error) => reject(internalError(`dial of the node failed: ${error.message}`)));
    outgoing.on('response', (incoming) => {
      exchange.begin(incoming.statusCode ?? 502, { 'content-type': incoming.headers['content-type'] ?? 'text/plain' });
      incoming.on('data', (chunk: Buffer) => exchange.write(chunk.toString('utf8')));
      incoming.on('error', () => exchange.cut());
      incoming.on('end', () => {
        exchange.end();
        resolve();
      });
    });
    exchange.request.pipe(outgoing);
  });
}

/** Paths of the kubelet's API by pod subresource. */
const KUBELET_PATHS: Record<string, string> = {
  log: 'containerLogs',
  exec: 'exec',
  attach: 'attach',
  portforward: 'portForward',
};

/** The node's address and path for a request for a pod's streams or for the node's own paths. */
export function nodeTarget(registry: Registry, info: RequestInfo, given: URLSearchParams): Target {
  const query = new URLSearchParams(given);
  if (info.kind.plural === 'nodes') return { ...addressOf(registry, info.name), path: `/${info.rest}${textOf(query)}` };
  const pod = registry.get({ ...placeOf(info), kind: PODS });
  const node = textAt(pod, 'spec', 'nodeName');
  if (node === '') throw badRequest(`pod ${info.name} does not have a host assigned`);
  const container = info.subresource === 'portforward' ? '' : `/${containerOf(pod, query.get('container'))}`;
  query.delete('container');
  renameStreams(query);
  const path = `/${KUBELET_PATHS[info.subresource]}/${info.namespace}/${info.name}${container}${textOf(query)}`;
  return { ...addressOf(registry, node), path };
}

const textOf = (query: URLSearchParams) => (query.size === 0 ? '' : `?${query.toString()}`);

/** Renames the API's stream parameters to the kubelet's, such as `stdin` to `input`. */
function renameStreams(query: URLSearchParams): void {
  const names = { stdin: 'input', stdout: 'output', stderr: 'error', tty: 'tty' };
  for (const [name, renamed] of Object.entries(names)) {
    const value = query.get(name);
    if (value === null) continue;
    query.delete(name);
    if (value === 'true' || value === '1') query.set(renamed, '1');
  }
}

function containerOf(pod: ApiObject, asked: string | null): string {
  const names = listAt(pod, 'spec', 'containers').map((container) => textAt(container, 'name'));
  if (asked !== null && asked !== '') return asked;
  if (names.length === 1) return names[0]!;
  throw badRequest(
    `a container name must be specified for pod ${pod.metadata.name}, choose one of: [${names.join(' ')}]`,
  );
}

/** The address of a node's kubelet, from the node's status. */
function addressOf(registry: Registry, name: string): { host: string; port: number } {
  const node = registry.get({ kind: NODES, namespace: '', name });
  const addresses = listAt(node, 'status', 'addresses');
  const address = addresses.find((one) => at(one, 'type') === 'InternalIP') ?? addresses[0];
  const port = Number(at(node, 'status', 'daemonEndpoints', 'kubeletEndpoint', 'Port') ?? 10250);
  const host = textAt(address, 'address');
  if (host === '') throw internalError(`node ${name} has no address`);
  return { host, port };
}
