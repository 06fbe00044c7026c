/** exec, attach and port-forward of pods: connections that the kubelet of the pod's node serves. */
import { type Admission, badRequest, forbidden } from '@podwright/api-machinery';
import type { Authorizer } from '../authorization/authorizer.ts';
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

/** A client's request for a stream: the options as in the API, and the path and query of the kubelet without the pod. */
type RequestedStream = { options: { container?: string }; kubeletPath: string; kubeletQuery: URLSearchParams };

/** Returns the handlers of all three kinds of streams by subresource. */
export function streamHandlers(parts: StreamParts): [string, SubresourceHandler][] {
  const kinds: StreamKind[] = ['exec', 'attach', 'portforward'];
  return kinds.map((kind) => [`pods/${kind}`, (request) => serveStream(request, parts, kind)]);
}

async function serveStream(request: ResourceRequest, parts: StreamParts, kind: StreamKind): Promise<void> {
  const { exchange, info, served } = request;
  const { options, kubeletPath, kubeletQuery } = requestedStream(kind, exchange.query);
  await admitConnect(request, parts.admission, options);
  requireCreate(request, parts.authorizer);
  const pod = served.get(placeOf(request)).decode();
  const container = kind === 'portforward' ? '' : `/${containerOf(pod, options.container ?? '')}`;
  const nodeName = nodeNameOf(pod);
  if (nodeName === '') throw badRequest(`pod ${info.name} does not have a host assigned`);
  const kubelet = parts.connector.kubelet(nodeName);
  if (exchange.upgrade === undefined) throw badRequest('Upgrade request required');
  const query = kubeletQuery.size === 0 ? '' : `?${kubeletQuery}`;
  const path = `/${kubeletPath}/${info.namespace}/${info.name}${container}${query}`;
  await forwardUpgrade(exchange, { backend: kubelet.backend(), path });
}

/**
 * WebSocket clients send GET, which is the verb `get`. They must have `create` on the subresource, too, like clients that send POST: a user who
 * may only read pods must not run commands in them.
 */
function requireCreate({ exchange, info, resource, user }: ResourceRequest, authorizer: Authorizer): void {
  if (info.verb === 'create') return;
  const attributes = { ...attributesOf(info, user, exchange.query), verb: 'create' };
  const { decision, reason } = authorizer.authorize(attributes);
  if (decision !== 'allow') throw forbidden(resource, info.name, reason);
}

function requestedStream(kind: StreamKind, query: URLSearchParams): RequestedStream {
  if (kind === 'portforward') {
    const ports = query.getAll('ports').flatMap((list) => list.split(',').map(portOf));
    const kubeletQuery = new URLSearchParams(ports.length === 0 ? [] : [['port', ports.join(',')]]);
    return { options: ports.length === 0 ? {} : ({ ports } as object), kubeletPath: 'portForward', kubeletQuery };
  }
  const values = new QueryValues(query);
  const chosen = CHOICES.filter(([name]) => values.flag(name) === true);
  const command = kind === 'exec' ? values.texts('command') : [];
  const container = values.text('container');
  const words = command.map((word): [string, string] => ['command', word]);
  const flags = chosen.map(([, kubeletName]): [string, string] => [kubeletName, '1']);
  return {
    options: {
      ...Object.fromEntries(chosen.map(([name]) => [name, true])),
      container,
      ...(kind === 'exec' && { command }),
    },
    kubeletPath: kind,
    kubeletQuery: new URLSearchParams([...words, ...flags]),
  };
}

/** The API's names of the streams, and the kubelet's. */
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
