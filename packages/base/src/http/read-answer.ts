import type { Duplex } from 'node:stream';
import { type AnswerBody, readBody } from './answer-body.ts';
import { type AnswerHead, type HeadBudget, readHead } from './answer-head.ts';
import { AnswerInput, type Step } from './answer-input.ts';

/** An answer to a GET, with as much of its body as was wanted. */
export type HttpAnswer = AnswerHead & { body: AnswerBody };

export type AnswerOptions = {
  /** Bytes of the status line and all fields, those of 1xx answers before it included. */
  maxHeadBytes: number;
  /** What is beyond that of a body is not read. */
  maxBodyBytes: number;
  /** Called when the fields have come. */
  onHead?: () => void;
};

/**
 * Reads an HTTP/1.x answer to a GET from a connection that is used for nothing else, as leniently as Go's net/http: Node's
 * parser refuses what servers in containers answer and what clients in Go read. Rejects with an error in Go's words, or with
 * the connection's. The connection is left open; the caller bounds the time.
 */
export function readAnswer(connection: Duplex, options: AnswerOptions): Promise<HttpAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
  const input = new AnswerInput();
  const reading = answer(input, options);
  const goOn = () => {
    try {
      const { done, value } = reading.next();
      if (done && value !== undefined) resolve(value);
    } catch (error) {
      reject(error);
    }
  };
  connection.on('data', (chunk: Buffer) => {
    input.add(chunk);
    goOn();
  });
  const close = (error?: Error) => {
    input.close(error);
    goOn();
  };
  connection.on('end', close);
  connection.on('error', close);
  connection.on('close', () => close());
  return promise;
}

function* answer(input: AnswerInput, options: AnswerOptions): Step<HttpAnswer> {
  const budget: HeadBudget = { bytes: options.maxHeadBytes };
  for (;;) {
    const head = yield* readHead(input, budget);
    if (head === undefined) throw new Error('EOF');
    if (isInterim(head.status)) continue;
    options.onHead?.();
    return { ...head, body: yield* readBody(input, head.framing, options.maxBodyBytes) };
  }
}

/** An answer before the one that counts; after 101 the connection speaks another protocol. */
function isInterim(status: number): boolean {
  return status >= 100 && status < 200 && status !== 101;
}
