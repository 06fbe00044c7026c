/** Container logs: GET of `pods/NAME/log`, served by the kubelet of the pod's node. */
import { ApiError, invalid } from '@podwright/api-machinery';
import type { Backend } from '../backends/backend.ts';
import { backendError } from '../backends/backend-error.ts';
import { answerTo, passResponse, readText } from '../backends/backend-response.ts';
import { dialError } from '../backends/dial-error.ts';
import type { NodeConnector } from '../backends/node-connector.ts';
import { placeOf } from '../server/resource-request.ts';
import type { SubresourceHandler } from '../server/server-parts.ts';
import type { HttpExchange } from '../wire/http-exchange.ts';
import { negotiateObject } from '../wire/negotiation.ts';
import { kubeletLogQuery, podLogOptions, validateLogOptions } from './log-options.ts';
import { containerOf, nodeNameOf } from './pod-container.ts';

const MAX_ERROR_BYTES = 50_000;

export function logHandler(connector: NodeConnector): SubresourceHandler {
  return async (request) => {
    const { exchange, writer, info, served } = request;
    negotiateObject(exchange);
    const options = podLogOptions(exchange.query);
    const errors = validateLogOptions(options);
    if (errors.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, info.name, errors);
    const pod = served.get(placeOf(request)).decode();
    const container = containerOf(pod, options.container);
    const nodeName = nodeNameOf(pod);
    if (nodeName === '') return writer.bytes(204, { contentType: '', parts: [] });
    const kubelet = connector.kubelet(nodeName).backend(options);
    const query = kubeletLogQuery(options);
    const path = `/containerLogs/${info.namespace}/${info.name}/${container}${query && `?${query}`}`;
    await sendLog(exchange, { kubelet, path, name: info.name });
  };
}

type KubeletLog = { kubelet: Backend; path: string; name: string };

async function sendLog(exchange: HttpExchange, { kubelet, path, name }: KubeletLog): Promise<void> {
  const outgoing = kubelet.request({ method: 'GET', path, headers: {} });
  outgoing.end();
  const failed = (why: string) => {
    const url = `${kubelet.scheme}://${kubelet.authority}${path}`;
    return new ApiError(500, '', { message: `Get "${url}": ${why}` });
  };
  const { response, upgraded } = await answerTo(outgoing, exchange.signal).catch((error: unknown) => {
    throw exchange.signal.reason instanceof ApiError
      ? exchange.signal.reason
      : failed(dialError(error, kubelet.authority));
  });
  upgraded?.socket.destroy();
  const code = response.statusCode!;
  if (upgraded !== undefined) throw failed('the kubelet switched to another protocol');
  if (code >= 200 && code <= 206) return passResponse(exchange, response, { 'content-type': 'text/plain' });
  const text = await readText(response, MAX_ERROR_BYTES, exchange.signal);
  throw code < 400 ? failed('redirects forbidden') : backendError(code, text, { resource: 'pods/log', name });
}
