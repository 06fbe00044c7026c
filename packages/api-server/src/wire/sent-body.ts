import type { HttpExchange } from './http-exchange.ts';
import type { ParsedBody } from './parsed-body.ts';
import { readBody } from './read-body.ts';

/** A request's body: bytes from a client, or the value of a caller in this process. */
export type SentBody = Buffer | ParsedBody;

/** Reads the body of a request. Throws 413 if it is too large, and 400 if it is incomplete. */
export async function sentBody(exchange: HttpExchange): Promise<SentBody> {
  const { value } = exchange;
  return value === undefined ? readBody(exchange) : { value: value.body, duplicates: [], yamlProblems: [] };
}
