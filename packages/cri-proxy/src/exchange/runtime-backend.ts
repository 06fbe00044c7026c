import { ignoreFailure, PodwrightError } from '@podwright/base';
import { type HeaderField, type RawConnection, type RawStream, timeoutMsOf } from '@podwright/grpc';
import type { Backend, ProxyRequest } from './backend.ts';

/** Maximum timeout in the `grpc-timeout` header, in milliseconds: the header's value has at most eight digits. */
const MOST_TIMEOUT_MS = 99_999_999;

/** Returns a backend that sends calls to a runtime. Calls fail with `unavailable` while the runtime is not running. */
export function runtimeBackend(connection: RawConnection): Backend {
  return async (request) => {
    const { message, signal } = request;
    const stream = await connection.begin(withRemainingTime(request), { request: message, signal });
    if (message === undefined) ignoreFailure(pump(request, stream), 'the call has ended');
    return { headers: await stream.headers, messages: stream.messages(), end: () => stream.ended };
  };
}

async function pump(request: ProxyRequest, stream: RawStream): Promise<void> {
  try {
    for await (const message of request.messages()) await stream.send(message);
    stream.end();
  } catch (error) {
    stream.reset();
    throw error;
  }
}

/** Returns a request's header fields, with `grpc-timeout` reduced by the time the request has spent in the proxy. */
function withRemainingTime({ fields, receivedAtMs }: ProxyRequest): readonly HeaderField[] {
  const passedMs = Math.floor(performance.now() - receivedAtMs);
  if (passedMs < 1) return fields;
  const timeoutMs = timeoutMsOf(fields.find(([name]) => name === 'grpc-timeout')?.[1]);
  const restMs = timeoutMs - passedMs;
  if (restMs <= 0) throw new PodwrightError('deadline_exceeded', 'the deadline of the client has passed');
  if (restMs > MOST_TIMEOUT_MS) return fields;
  return fields.map(([name, value]) => [name, name === 'grpc-timeout' ? `${Math.ceil(restMs)}m` : value]);
}
