import { formatTraceparent, TRACEPARENT, type TraceContext } from '@podwright/base';
import { encodeLiterals } from '../http2/hpack-encoder.ts';
import type { HeaderField } from '../http2/static-table.ts';

/** Maximum value of the `grpc-timeout` header, which is limited to eight digits. */
const MOST_TIMEOUT_MS = 99_999_999;

/** Encodes the request headers of calls to one endpoint ("Requests" in gRPC's PROTOCOL-HTTP2.md). */
export class RequestHeads {
  readonly #target: { scheme: string; authority: string };
  /** The last header block of each method, by path. It can usually be reused, because most calls of a method have the same timeout. */
  readonly #last = new Map<string, { timeoutMs: number; head: Buffer }>();

  constructor(target: { scheme: string; authority: string }) {
    this.#target = target;
  }

  /**
   * Returns the header block for a call. `context` is the trace context of the call, if it is part of a trace; `headers` are those of the
   * caller.
   */
  of(
    path: string,
    timeoutMs: number,
    { context, headers = [] }: { context?: TraceContext; headers?: readonly HeaderField[] },
  ): Buffer {
    const last = this.#last.get(path);
    const { head } = last?.timeoutMs === timeoutMs ? last : this.#make(path, timeoutMs);
    if (context === undefined && headers.length === 0) return head;
    const trace: HeaderField[] = context === undefined ? [] : [[TRACEPARENT, formatTraceparent(context)]];
    return Buffer.concat([head, encodeLiterals([...trace, ...headers])]);
  }

  #make(path: string, timeoutMs: number): { timeoutMs: number; head: Buffer } {
    const fields: HeaderField[] = [
      [':method', 'POST'],
      [':scheme', this.#target.scheme],
      [':path', path],
      [':authority', this.#target.authority],
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
