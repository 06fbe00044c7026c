import type { IncomingMessage, ServerResponse } from 'node:http';

/** An API request. `signal` aborts when the client disconnects. */
export type ApiCall = {
  request: IncomingMessage;
  response: ServerResponse;
  /** The decoded path without the query string. */
  path: string;
  query: URLSearchParams;
  params: Record<string, string | undefined>;
  signal: AbortSignal;
};

export type ApiMethod = 'GET' | 'HEAD' | 'POST';

/**
 * A path and its handler. The read-only port serves only `open` routes; `debug` routes require the debugging handlers to be enabled;
 * `/statusz` lists the `listed` routes. If the handler rejects, the client receives a 500 response.
 */
export type ApiRoute = {
  methods: readonly ApiMethod[];
  path: string;
  access: 'open' | 'debug';
  listed?: true;
  handler: (call: ApiCall) => Promise<void> | void;
};

/** Methods accepted by the routes that accept any method in upstream's kubelet. */
export const ANY_METHOD: readonly ApiMethod[] = ['GET', 'HEAD', 'POST'];

/** The error response to a request that is refused. */
export type Refusal = { status: number; message: string; headers?: Record<string, string> };

export const refusal = (status: number, message: string): Refusal => ({ status, message });

/** Sends plain text with the headers of an upstream error response (Go's http.Error). */
export function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' });
  response.end(text);
}

export function sendRefusal(response: ServerResponse, { status, message, headers = {} }: Refusal): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  sendText(response, status, message);
}
