import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import { type Call, USER_AGENT } from '@podwright/kube-client/calls';
import type { UserInfo } from '@podwright/kube-kinds';
import type { HttpExchange, HttpRequest, HttpResponse } from '../wire/http-exchange.ts';
import { copyJson } from './copy-json.ts';

/**
 * A user making calls in this process. `userAgent` names the program in audit events; its part before `/` is the field manager. Default:
 * Podwright's.
 */
export type LocalUser = UserInfo & { userAgent?: string };

/** Returns the exchange for an in-process call: handlers receive its body as a value and must respond through the writer. */
export function directExchange(
  call: Call,
  { userAgent = USER_AGENT }: Pick<LocalUser, 'userAgent'>,
  { query, signal }: { query: URLSearchParams; signal: AbortSignal },
): HttpExchange {
  return {
    request: directRequest(call, userAgent),
    response: new NoResponse(),
    query,
    signal,
    value: { body: copyJson(call.body) },
  };
}

function directRequest(
  { method, path, body, contentType = 'application/json', accept }: Call,
  userAgent: string,
): HttpRequest {
  const headers = {
    accept: accept ?? 'application/json',
    'user-agent': userAgent,
    ...(body !== undefined && { 'content-type': contentType }),
  };
  return Object.assign(new Readable({ read: () => undefined }), {
    ...{ method, url: path, headers, rawHeaders: [], httpVersionMajor: 1 },
  });
}

/** Stands for the HTTP response in exchanges without a connection. Nothing is sent. */
class NoResponse extends EventEmitter implements HttpResponse {
  readonly headersSent = false;
  readonly statusCode = 0;
  readonly writableEnded = false;
  readonly writableNeedDrain = false;
  readonly socket = null;

  setHeader(): void {}

  writeHead(): never {
    throw new Error('a call in this process has no HTTP response');
  }

  flushHeaders(): void {}

  write(): never {
    throw new Error('a call in this process has no HTTP response');
  }

  end(): void {}

  destroy(): void {}
}
