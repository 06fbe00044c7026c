import { formatTraceparent, TRACEPARENT, type TraceContext } from '@podwright/base';
import { encodeLiterals } from '../http2/hpack-encoder.ts';
import type { HeaderField } from '../http2/static-table.ts';

/** The `grpc-timeout` header has eight digits at most. */
const MOST_TIMEOUT_MS = 99_999_999;

/** The header blocks of calls to one place ("Requests" of gRPC's PROTOCOL-HTTP2.md). */
export class RequestHeads {
  readonly #place: { scheme: string; authority: string };
  /** By the path of the method: that of its last call, which mostly had as much time as the next one. */
  readonly #last = new Map<string, { timeoutMs: number; head: Buffer }>();

  constructor(place: { scheme: string; authority: string }) {
    this.#place = place;
  }

  /** Tells the server how long it has, and which trace the call is part of, if it is of one. */
  of(path: string, timeoutMs: number, context: TraceContext | undefined): Buffer {
    const last = this.#last.get(path);
    const { head } = last?.timeoutMs === timeoutMs ? last : this.#make(path, timeoutMs);
    if (context === undefined) return head;
    return Buffer.concat([head, encodeLiterals([[TRACEPARENT, formatTraceparent(context)]])]);
  }

  #make(path: string, timeoutMs: number): { timeoutMs: number; head: Buffer } {
    const fields: HeaderField[] = [
      [':method', 'POST'],
      [':scheme', this.#place.scheme],
      [':path', path],
      [':authority', this.#place.authority],
      ['content-type', 'application/grpc'],
      ['te', 'trailers'],
      ['user-agent', 'podwright'],
    ];
    if (timeoutMs <= MOST_TIMEOUT_MS) fields.push(['grpc-timeout', `${Math.ceil(timeoutMs)}m`]);
    const made = { timeoutMs, head: encodeLiterals(fields) };
    this.#last.set(path, made);
    return made;
  }
}
