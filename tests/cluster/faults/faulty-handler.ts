/** Wraps the API server's request handler to inject faults and record requests. */
import type { Http2ServerRequest } from 'node:http2';
import { ApiError } from '@podwright/api-machinery';
import type { CallHandler, HttpCall } from '../../../packages/api-server/src/server/request-handler.ts';
import { requestInfo } from '../../../packages/api-server/src/server/request-info.ts';
import { parseRequestUrl, type RequestUrl } from '../../../packages/api-server/src/server/request-url.ts';
import type { ClientConnection } from '../../../packages/api-server/src/server/server-parts.ts';
import type { Fault, Faults } from './faults.ts';
import { boundFunctions, disturb } from './faulty-response.ts';
import type { RecordedRequest, RequestRecord } from './request-record.ts';

type Observation = { faults: Faults; requests: RequestRecord };

export class FaultyHandler implements CallHandler {
  readonly #next: CallHandler;
  readonly #observation: Observation;

  constructor(next: CallHandler, observation: Observation) {
    this.#next = next;
    this.#observation = observation;
  }

  stop(): Promise<void> {
    return this.#next.stop();
  }

  handle(call: HttpCall, connection: ClientConnection): void {
    const { request, response } = call;
    const url = parseRequestUrl(request.url ?? '/');
    const recorded = recordOf(request.method ?? '', url, connection);
    this.#observation.requests.add(recorded);
    const faults = this.#observation.faults.take(recorded);
    observe(call, recorded);
    const cut = () => closeConnection(call);
    for (const fault of faults) {
      if (fault.kind === 'cut-before-headers') return cut();
      if (fault.kind === 'status') return refuse(call, fault);
    }
    if (faults.length > 0) {
      delete request.headers['accept-encoding'];
      disturb(response, {
        faults,
        isWatch: recorded.verb === 'watch',
        isLive: !url.query.has('sendInitialEvents'),
        cut,
      });
    }
    this.#next.handle(call, connection);
  }
}

function recordOf(method: string, url: RequestUrl, connection: ClientConnection): RecordedRequest {
  const { verb, resource, subresource, namespace, name } = requestInfo(method, url);
  return {
    method,
    query: decodeURIComponent(url.query.toString()),
    ...{ verb, resource: subresource === '' ? resource : `${resource}/${subresource}`, namespace, name },
    user: connection.isLocal ? '' : commonNameOf(connection),
    ...{ body: '', status: 0, responseBytes: 0, isOver: false },
  };
}

function commonNameOf({ tlsSocket }: Extract<ClientConnection, { isLocal: false }>): string {
  const { subject = '' } = tlsSocket.getPeerX509Certificate() ?? {};
  return /^CN=(.*)$/m.exec(subject)?.[1] ?? '';
}

/** Updates the record of a request while its body arrives and its response is sent. */
function observe({ request, response }: HttpCall, recorded: RecordedRequest): void {
  const emit = request.emit.bind(request);
  request.emit = (event: string, ...given: unknown[]) => {
    if (event === 'data') recorded.body += String(given[0]);
    return emit(event, ...given);
  };
  const { writeHead, write, end } = boundFunctions(response);
  response.writeHead = (status, headers) => {
    recorded.status = status;
    return writeHead(status, headers);
  };
  response.write = (chunk) => {
    recorded.responseBytes += chunk.length;
    return write(chunk);
  };
  response.end = (chunk) => {
    if (chunk !== undefined) response.write(chunk);
    return end();
  };
  response.once('close', () => {
    recorded.isOver = true;
  });
}

function refuse({ request, response }: HttpCall, fault: Extract<Fault, { kind: 'status' }>): void {
  const { code, reason = '', message = 'a fault injected by the test', retryAfterSeconds } = fault;
  const details = retryAfterSeconds === undefined ? undefined : { retryAfterSeconds };
  const { body = JSON.stringify(new ApiError(code, reason, { message, details }).status) } = fault;
  request.resume();
  response.writeHead(code, {
    'content-type': body.startsWith('{') ? 'application/json' : 'text/plain',
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
  });
  response.end(Buffer.from(body));
}

function closeConnection({ request }: HttpCall): void {
  const { stream, socket } = request as unknown as Http2ServerRequest;
  if (stream === undefined) socket.destroy();
  else stream.session?.destroy();
}
