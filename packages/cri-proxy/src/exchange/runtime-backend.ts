import { ignoreFailure, PodwrightError } from '@podwright/base';
import { type HeaderField, type RawConnection, type RawStream, timeoutMsOf } from '@podwright/grpc';
import type { Backend, ProxyRequest } from './backend.ts';

/** The header `grpc-timeout` has at most eight digits. */
const MOST_TIMEOUT_MS = 99_999_999;

/** A backend that sends calls to a runtime. Calls fail with `unavailable` while the runtime does not run. */
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

/** Returns the header fields of a request. Its `grpc-timeout` is reduced by the time that the proxy has held the request. */
function withRemainingTime({ fields, receivedAtMs }: ProxyRequest): readonly HeaderField[] {
  const passedMs = Math.floor(performance.now() - receivedAtMs);
  if (passedMs < 1) return fields;
  const timeoutMs = timeoutMsOf(fields.find(([name]) => name === 'grpc-timeout')?.[1]);
  const restMs = timeoutMs - passedMs;
  if (restMs <= 0) throw new PodwrightError('deadline_exceeded', 'the deadline of the client has passed');
  if (restMs > MOST_TIMEOUT_MS) return fields;
  return fields.map(([name, value]) => [name, name === 'grpc-timeout' ? `${Math.ceil(restMs)}m` : value]);
}
