/** Watches over WebSocket: each event is one message (apiserver, handlers/watch.go). */
import type { IncomingMessage } from 'node:http';
import { ApiError, internalError } from '@podwright/api-machinery';
import { PROTOBUF_MEDIA_TYPE } from '@podwright/kube-schema';
import { EventSocket } from '@podwright/streaming';
import type { OutputEvent } from './encode-event.ts';
import type { HttpExchange } from './http-exchange.ts';
import type { WatchResponseOptions } from './watch-response.ts';

/** Size of the length prefix of protobuf events, which WebSocket messages do not need. */
const LENGTH_BYTES = 4;

/**
 * Upgrades the connection and sends watch events until the iteration ends or the client closes the connection. Like `sendWatch`, sends
 * events no faster than the client reads. JSON events are sent as text messages.
 */
export async function sendWatchMessages(
  events: AsyncIterable<readonly OutputEvent[]>,
  { exchange, encoding, encoder, signal }: WatchResponseOptions & { exchange: HttpExchange },
): Promise<void> {
  const request = exchange.request as HttpExchange['request'] & IncomingMessage;
  const socket = EventSocket.accept({ request, ...exchange.upgrade!() });
  if (socket === undefined) return;
  const isText = encoding.format.mediaType !== PROTOBUF_MEDIA_TYPE;
  let isFirst = true;
  const send = async (event: OutputEvent): Promise<boolean> => {
    const parts = await encoder.encode(event, { ...encoding, nowMs: Date.now(), isFirst });
    isFirst = false;
    // not copied: copies of a large event for thousands of clients would need too much memory
    return socket.send(isText ? parts : [parts[0]!.subarray(LENGTH_BYTES)], { isText });
  };
  try {
    for await (const batch of events) for (const event of batch) if (signal.aborted || !(await send(event))) return;
  } catch (error) {
    const { status } = error instanceof ApiError ? error : internalError('the watch failed');
    if (!signal.aborted) await send({ type: 'ERROR', status });
  } finally {
    socket.close();
  }
}
