import { BoundedBytes, isRecord, PodwrightError } from '@podwright/base';
import type { KubeObject } from '@podwright/kube-api';
import { ApiStatusError } from '../api-status-error.ts';
import { isInitialEnd, type WatchEvent } from '../kube-client.ts';
import { MAX_OBJECT_BYTES } from '../limits.ts';
import { connectionError, lostConnection } from '../transport/connection-error.ts';
import type { HttpAnswer } from '../transport/http-exchange.ts';
import { decodeStatus } from './status-of-answer.ts';

const NEWLINE = 0x0a;

/**
 * Yields the events of a watch response body, which has one JSON object per line. The body is read only as fast as the consumer iterates,
 * so that HTTP flow control slows the server down. Rejects with `unavailable` if the body is truncated, `ApiStatusError` for an ERROR
 * event, `internal` for an invalid event, and `resource_exhausted` if the initial objects exceed `maxInitialBytes`.
 */
export async function* watchEvents<T extends KubeObject>(
  what: string,
  { body, isWhole }: HttpAnswer,
  maxInitialBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<WatchEvent<T>> {
  const rest = new Line(what);
  let leftBytes = maxInitialBytes;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        const line = rest.take(chunk.subarray(start, end));
        start = end + 1;
        leftBytes -= line.length;
        if (leftBytes < 0)
          throw new PodwrightError(
            'resource_exhausted',
            `${what}: more than ${maxInitialBytes} bytes of initial objects`,
          );
        if (line.trim() === '') continue;
        const event = decodeEvent<T>(what, line);
        if (isInitialEnd(event)) leftBytes = Number.POSITIVE_INFINITY;
        yield event;
      }
      rest.add(chunk.subarray(start));
    }
  } catch (error) {
    throw error instanceof PodwrightError ? error : connectionError(error, what);
  } finally {
    body.destroy();
  }
  const last = rest.take(Buffer.alloc(0)).trim();
  if (!isWhole() || (last !== '' && parse(last) === undefined)) throw lostConnection(what);
  if (last !== '') yield decodeEvent<T>(what, last);
}

/** Accumulates the chunks of a line. The buffer is dropped after each line, so that a long line does not hold on to memory. */
class Line {
  readonly #what: string;
  #bytes = new BoundedBytes(MAX_OBJECT_BYTES);

  constructor(what: string) {
    this.#what = what;
  }

  add(part: Buffer): void {
    if (part.length === 0) return;
    this.#bytes.add(part);
    if (this.#bytes.isCut)
      throw new PodwrightError('resource_exhausted', `${this.#what}: an event of more than ${MAX_OBJECT_BYTES} bytes`);
  }

  take(end: Buffer): string {
    if (this.#bytes.sizeBytes === 0 && end.length <= MAX_OBJECT_BYTES) return end.toString('utf8');
    this.add(end);
    const text = this.#bytes.bytes().toString('utf8');
    this.#bytes = new BoundedBytes(MAX_OBJECT_BYTES);
    return text;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Decodes an event. Errors never quote the event, because it might contain a Secret. */
function decodeEvent<T extends KubeObject>(what: string, line: string): WatchEvent<T> {
  const event = parse(line);
  const { type, object } = isRecord(event) ? event : {};
  if (type === 'ERROR') throw new ApiStatusError(what, decodeStatus(object) ?? UNKNOWN_STATUS);
  if (!isRecord(object) || !isRecord(object.metadata) || !isKnown(type))
    throw new PodwrightError('internal', `${what}: the line is not a watch event (${line.length} characters)`);
  return { type, object } as WatchEvent<T>;
}

const UNKNOWN_STATUS = { code: 500, reason: 'InternalError', message: 'an ERROR event without a Status' };

function isKnown(type: unknown): boolean {
  return type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED' || type === 'BOOKMARK';
}
