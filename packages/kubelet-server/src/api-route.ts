import type { IncomingMessage, ServerResponse } from 'node:http';

/** One request. `signal` aborts when the client has gone. */
export type ApiCall = {
  request: IncomingMessage;
  response: ServerResponse;
  /** Decoded, without the query. */
  path: string;
  query: URLSearchParams;
  params: Record<string, string | undefined>;
  signal: AbortSignal;
};

export type ApiMethod = 'GET' | 'HEAD' | 'POST';

/**
 * Where something is: `open` routes are on the read-only port too, `debug` ones only with debugging handlers; `listed` ones are
 * told by `/statusz`. A handler that rejects is answered with 500.
 */
export type ApiRoute = {
  methods: readonly ApiMethod[];
  path: string;
  access: 'open' | 'debug';
  listed?: true;
  handler: (call: ApiCall) => Promise<void> | void;
};

/** Methods of what upstream serves without looking at them. */
export const ANY_METHOD: readonly ApiMethod[] = ['GET', 'HEAD', 'POST'];

/** An answer other than what was asked for. */
export type Refusal = { status: number; message: string; headers?: Record<string, string> };

export const refusal = (status: number, message: string): Refusal => ({ status, message });

/** Plain text, as upstream's errors are. */
export function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' });
  response.end(text);
}

export function sendRefusal(response: ServerResponse, { status, message, headers = {} }: Refusal): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  sendText(response, status, message);
}
