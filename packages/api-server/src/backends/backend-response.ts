import { once } from 'node:events';
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import { discardBody } from '../wire/discard-body.ts';
import type { HttpExchange } from '../wire/http-exchange.ts';
import { waitForRoom } from '../wire/write-parts.ts';

/** A backend's response. `upgraded`: after a protocol switch, the connection and the bytes already received on it. */
export type BackendAnswer = { response: IncomingMessage; upgraded?: { socket: Duplex; head: Buffer } };

/** Waits for the response to a request. Rejects with the connection error or the signal's reason. Destroys the request on failure. */
export async function answerTo(outgoing: ClientRequest, signal: AbortSignal): Promise<BackendAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<BackendAnswer>();
  const abort = () => outgoing.destroy(signal.reason);
  outgoing.on('error', reject); // after the answer, the response reports the error, too
  outgoing.once('response', (response) => resolve({ response }));
  outgoing.once('upgrade', (response, socket, head) => {
    socket.on('error', () => undefined); // the connection closes
    resolve({ response, upgraded: { socket, head } });
  });
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/**
 * Streams a backend's response to the client, with backpressure. If either side fails midway, the response is cut off, because its status
 * has already been sent.
 */
export async function passResponse(
  exchange: HttpExchange,
  incoming: IncomingMessage,
  headers: OutgoingHttpHeaders,
): Promise<void> {
  const { response, signal } = exchange;
  const { complete: isComplete } = incoming;
  const abort = () => incoming.destroy();
  if (!isComplete) signal.addEventListener('abort', abort, { once: true });
  try {
    response.writeHead(incoming.statusCode!, headers);
    // the part of the body that arrived with the headers is sent with them, in one write; otherwise, the headers are sent at once
    const first = incoming.read() as Buffer | null;
    if (first === null && !isComplete) response.flushHeaders();
    const passed = isComplete ? await passEnd(exchange, first) : await passBody(exchange, incoming, first);
    if (!passed) response.destroy(new Error('the response was cut off'));
  } finally {
    signal.removeEventListener('abort', abort);
    if (!isComplete) incoming.destroy();
  }
}

/** Copies the body of a backend's response to the client's, after its first part. Returns false if either side failed. */
async function passBody(exchange: HttpExchange, incoming: IncomingMessage, first: Buffer | null): Promise<boolean> {
  const { response, signal } = exchange;
  const pass = async (chunk: Buffer) => response.write(chunk) || (await waitForRoom(response, signal));
  try {
    if (first !== null && !(await pass(first))) return false;
    for await (const chunk of incoming as AsyncIterable<Buffer>) if (!(await pass(chunk))) return false;
  } catch {
    return false;
  }
  return passEnd(exchange, null);
}

/** Sends the last part of a response. */
async function passEnd({ request, response, signal }: HttpExchange, last: Buffer | null): Promise<true> {
  if (last !== null) response.write(last);
  await discardBody({ request, signal });
  response.end();
  return true;
}

/** Reads the start of a response's body as text. Rejects if the signal aborts. */
export async function readText(incoming: IncomingMessage, maxBytes: number, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  incoming.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= maxBytes) incoming.destroy();
  });
  incoming.on('error', () => undefined); // the text that was received is returned
  await once(incoming, 'close', { signal }).finally(() => incoming.destroy());
  return Buffer.concat(chunks).subarray(0, maxBytes).toString();
}
