import type { HttpExchange } from './http-exchange.ts';
import type { ParsedBody } from './parsed-body.ts';
import { readBody } from './read-body.ts';

/** A request's body: bytes from a client, or the value passed by an in-process caller. */
export type SentBody = Buffer | ParsedBody;

/** Reads a request's body. Throws 413 if it is too large, or 400 if it is incomplete. */
export async function sentBody(exchange: HttpExchange): Promise<SentBody> {
  const { value } = exchange;
  return value === undefined ? readBody(exchange) : { value: value.body, duplicates: [], yamlProblems: [] };
}
