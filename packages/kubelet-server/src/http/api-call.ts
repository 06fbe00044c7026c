import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gatherBytes, PodwrightError } from '@podwright/base';
import { MAX_MANIFEST_BYTES } from '@podwright/kube-api';

/** A request to the API on the node's Unix socket. `signal` aborts when the client disconnects. */
export type Call = {
  request: IncomingMessage;
  response: ServerResponse;
  query: URLSearchParams;
  params: Record<string, string | undefined>;
  signal: AbortSignal;
};
export type Handler = (call: Call) => Promise<void>;

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';

/** A route: a method and a path in find-my-way syntax, with their handler. */
export type Route = { method: Method; path: string; handler: Handler };

export async function readBody(request: IncomingMessage): Promise<string> {
  const refusal = () => new PodwrightError('invalid_argument', `the manifest is over ${MAX_MANIFEST_BYTES} bytes`);
  return (await gatherBytes(request, MAX_MANIFEST_BYTES, refusal)).toString('utf8');
}

export function sendJson(response: ServerResponse, value: unknown): void {
  sendJsonText(response, JSON.stringify(value));
}

/** Sends text that is already encoded as JSON. */
export function sendJsonText(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(text);
}

/** Sends one line of a JSON stream. Waits if the client is reading too slowly. */
export async function sendLine(response: ServerResponse, value: unknown): Promise<void> {
  if (response.write(`${JSON.stringify(value)}\n`)) return;
  const settled = new AbortController(); // removes the listener of the other event: each line would add one
  const { signal } = settled;
  await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]);
  settled.abort();
}
