/** Requests forwarded to a server in a pod, an endpoint of a service, or a node: `…/NAME/proxy/PATH`. */
import type { Admission, ObjectStore } from '@podwright/api-machinery';
import { textAt } from '@podwright/kube-kinds';
import type { Backend } from '../backends/backend.ts';
import { encodedPath, rawQuery, subpathOf } from '../backends/backend-path.ts';
import { forwardRequest } from '../backends/forward-request.ts';
import { forwardUpgrade } from '../backends/forward-upgrade.ts';
import type { NodeConnector } from '../backends/node-connector.ts';
import type { ResourceRequest, SubresourceHandler } from '../server/server-parts.ts';
import { admitConnect } from './connect-requests.ts';
import { nodeBackend } from './node-backend.ts';
import { podBackend } from './pod-backend.ts';
import { type ProxyTarget, proxyTarget } from './proxy-target.ts';
import { serviceBackend } from './service-backend.ts';

export type ProxyParts = { connector: NodeConnector; store: ObjectStore; admission: Admission };

type FindBackend = (target: ProxyTarget, namespace: string) => Backend | Promise<Backend>;

/** Returns the handlers by subresource. */
export function proxyHandlers({ connector, store, admission }: ProxyParts): [string, SubresourceHandler][] {
  const handler = (kind: string, find: FindBackend): SubresourceHandler => {
    return (request) => proxy(request, admission, (id) => find(proxyTarget(kind, id), request.info.namespace));
  };
  return [
    ['nodes/proxy', handler('node', (target) => nodeBackend(connector, target))],
    ['pods/proxy', handler('pod', (target, namespace) => podBackend(store, namespace, target))],
    ['services/proxy', handler('service', (target, namespace) => serviceBackend(store, namespace, target))],
  ];
}

async function proxy(
  request: ResourceRequest,
  admission: Admission,
  find: (id: string) => Backend | Promise<Backend>,
): Promise<void> {
  const { exchange, info } = request;
  const requested = subpathOf(info.parts.slice(3), info.path);
  const admitted = textAt(await admitConnect(request, admission, { path: requested }), 'path');
  const subpath = subpathOf([admitted], admitted); // admission may have changed it
  const backend = await find(info.name);
  const query = rawQuery(exchange.request.url);
  const path = `${encodedPath(subpath) || '/'}${query}`;
  if (exchange.upgrade !== undefined) return forwardUpgrade(exchange, { backend, path });
  if (subpath === '' && ['GET', 'HEAD'].includes(exchange.request.method ?? '')) return redirectToRoot(request, query);
  await forwardRequest(exchange, { backend, path, prefix: encodedPath(prefixOf(info)) });
}

/** Redirects the client to the same path with a trailing slash, because relative links in a backend's pages only work with the slash. */
function redirectToRoot({ writer, info }: ResourceRequest, query: string): Promise<void> {
  const location = `${encodedPath(prefixOf(info))}/${query}`;
  return writer.bytes(301, { contentType: '', parts: [] }, { location });
}

/**
 * Returns the request path up to and including `proxy`, with a single leading slash: a path with two would be interpreted as starting with
 * a host name.
 */
function prefixOf({ path, parts }: ResourceRequest['info']): string {
  const behind = parts.slice(3).join('/');
  const trimmed = path.replace(/^\/+/, '/').replace(/\/+$/, '');
  return behind === '' ? trimmed : trimmed.slice(0, -behind.length - 1);
}
