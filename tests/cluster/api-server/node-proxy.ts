/** Requests that a node answers: logs of containers, and whatever goes through `nodes/NAME/proxy`. */
import { request as httpsRequest } from 'node:https';
import type { KeyPair } from './certificates.ts';
import { at, listAt, textAt } from './json.ts';
import type { Registry } from './registry.ts';
import { placeOf, type ResourceRequest } from './resource-handler.ts';
import { coreKind } from './resource-kinds.ts';
import { badRequest, internalError } from './status-error.ts';

const PODS = coreKind('pods');
const NODES = coreKind('nodes');

type Target = { host: string; port: number; path: string };

/** Answers with what the node answers, as it comes. */
export async function proxyToNode(request: ResourceRequest, { nodeClient }: { nodeClient: KeyPair }): Promise<void> {
  const { exchange } = request;
  const { host, port, path } = targetOf(request);
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

function targetOf({ exchange, info, registry }: ResourceRequest): Target {
  const search = exchange.url.search;
  if (info.kind.plural === 'nodes') return { ...addressOf(registry, info.name), path: `/${info.rest}${search}` };
  const pod = registry.get({ ...placeOf(info), kind: PODS });
  const containers = listAt(pod, 'spec', 'containers').map((container) => textAt(container, 'name'));
  const container = exchange.url.searchParams.get('container') ?? containers[0] ?? '';
  if (exchange.url.searchParams.get('container') === null && containers.length > 1)
    throw badRequest(
      `a container name must be specified for pod ${info.name}, choose one of: [${containers.join(' ')}]`,
    );
  const node = textAt(pod, 'spec', 'nodeName');
  if (node === '') throw badRequest(`pod ${info.name} does not have a host assigned`);
  const query = new URLSearchParams(exchange.url.searchParams);
  query.delete('container');
  const text = query.size === 0 ? '' : `?${query.toString()}`;
  return { ...addressOf(registry, node), path: `/containerLogs/${info.namespace}/${info.name}/${container}${text}` };
}

/** Where the kubelet of a node listens, by what it says in its status. */
function addressOf(registry: Registry, name: string): { host: string; port: number } {
  const node = registry.get({ kind: NODES, namespace: '', name });
  const addresses = listAt(node, 'status', 'addresses');
  const address = addresses.find((one) => at(one, 'type') === 'InternalIP') ?? addresses[0];
  const port = Number(at(node, 'status', 'daemonEndpoints', 'kubeletEndpoint', 'Port') ?? 10250);
  const host = textAt(address, 'address');
  if (host === '') throw internalError(`node ${name} has no address`);
  return { host, port };
}
