/** Pod exec, attach and port-forward: connections served by the kubelet of the pod's node. */
import { type Admission, badRequest, forbidden } from '@podwright/api-machinery';
import { booleanAt, type JsonObject, listAt, textAt, textsAt } from '@podwright/kube-kinds';
import type { Authorizer } from '../authorization/authorizer.ts';
import { encodedPath } from '../backends/backend-path.ts';
import { forwardUpgrade } from '../backends/forward-upgrade.ts';
import type { NodeConnector } from '../backends/node-connector.ts';
import { attributesOf } from '../server/authorize-request.ts';
import { placeOf } from '../server/resource-request.ts';
import type { ResourceRequest, SubresourceHandler } from '../server/server-parts.ts';
import { QueryValues } from '../wire/query-values.ts';
import { admitConnect } from './connect-requests.ts';
import { containerOf, nodeNameOf } from './pod-container.ts';

export type StreamParts = { connector: NodeConnector; admission: Admission; authorizer: Authorizer };

type StreamKind = 'exec' | 'attach' | 'portforward';

/** Returns the handlers of all three types of streams, by subresource. */
export function streamHandlers(parts: StreamParts): [string, SubresourceHandler][] {
  const kinds: StreamKind[] = ['exec', 'attach', 'portforward'];
  return kinds.map((kind) => [`pods/${kind}`, (request) => serveStream(request, parts, kind)]);
}

async function serveStream(request: ResourceRequest, parts: StreamParts, kind: StreamKind): Promise<void> {
  const { exchange, info, served } = request;
  const options = await admitConnect(request, parts.admission, requestedOptions(kind, exchange.query));
  requireCreate(request, parts.authorizer);
  const pod = served.get(placeOf(request)).decode();
  const container = kind === 'portforward' ? '' : `/${encodedPath(containerOf(pod, textAt(options, 'container')))}`;
  const nodeName = nodeNameOf(pod);
  if (nodeName === '') throw badRequest(`pod ${info.name} does not have a host assigned`);
  const kubelet = parts.connector.kubelet(nodeName);
  if (exchange.upgrade === undefined) throw badRequest('Upgrade request required');
  const query = kubeletQuery(kind, options);
  const path = `/${KUBELET_PATHS[kind]}/${info.namespace}/${info.name}${container}${query.size === 0 ? '' : `?${query}`}`;
  await forwardUpgrade(exchange, { backend: kubelet.backend(), path });
}

/**
 * Throws 403 unless the user has `create` on the subresource, which clients that send POST need anyway. WebSocket clients send GET, i.e.
 * the verb `get`, but users who may only read pods must not run commands in them.
 */
function requireCreate({ exchange, info, resource, user }: ResourceRequest, authorizer: Authorizer): void {
  if (info.verb === 'create') return;
  const attributes = { ...attributesOf(info, user, exchange.query), verb: 'create' };
  const { decision, reason } = authorizer.authorize(attributes);
  if (decision !== 'allow') throw forbidden(resource, info.name, reason);
}

/** Returns the request's query parameters in the form of the API's options kind, such as PodExecOptions. */
function requestedOptions(kind: StreamKind, query: URLSearchParams): JsonObject {
  if (kind === 'portforward') {
    const ports = query.getAll('ports').flatMap((list) => list.split(',').map(portOf));
    return ports.length === 0 ? {} : { ports };
  }
  const values = new QueryValues(query);
  const chosen = CHOICES.filter(([name]) => values.flag(name) === true);
  return {
    ...Object.fromEntries(chosen.map(([name]) => [name, true])),
    container: values.text('container'),
    ...(kind === 'exec' && { command: values.texts('command') }),
  };
}

const KUBELET_PATHS: Readonly<Record<StreamKind, string>> = {
  exec: 'exec',
  attach: 'attach',
  portforward: 'portForward',
};

/** Returns the query for the kubelet's exec, attach or port-forward path. */
function kubeletQuery(kind: StreamKind, options: JsonObject): URLSearchParams {
  if (kind === 'portforward') {
    const ports = listAt(options, 'ports').filter((one) => typeof one === 'number');
    return new URLSearchParams(ports.length === 0 ? [] : [['port', ports.join(',')]]);
  }
  const words = kind === 'exec' ? textsAt(options, 'command') : [];
  const flags = CHOICES.filter(([name]) => booleanAt(options, name));
  return new URLSearchParams([
    ...words.map((word): [string, string] => ['command', word]),
    ...flags.map(([, kubeletName]): [string, string] => [kubeletName, '1']),
  ]);
}

/** Boolean options of exec and attach in the API, each with its name in the kubelet's query. */
const CHOICES = [
  ['stderr', 'error'],
  ['stdin', 'input'],
  ['stdout', 'output'],
  ['tty', 'tty'],
] as const;

function portOf(text: string): number {
  const fails = (why: string) => badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`);
  if (!/^[+-]?\d+$/.test(text)) throw fails('invalid syntax');
  const port = Number(text);
  if (Math.abs(port) >= 2 ** 31) throw fails('value out of range');
  return port;
}
