import type { Duplex } from 'node:stream';
import { type AnswerBody, readBody } from './answer-body.ts';
import { type AnswerHead, type HeadBudget, readHead } from './answer-head.ts';
import { AnswerInput, type Step } from './answer-input.ts';

/** The response to a GET request; its body is cut off at the size limit. */
export type HttpAnswer = AnswerHead & { body: AnswerBody };

export type AnswerOptions = {
  /** Maximum total size of status lines and header fields, including those of interim (1xx) responses. */
  maxHeadBytes: number;
  /** Maximum number of body bytes to read; the rest is left unread. */
  maxBodyBytes: number;
  /** Called once the status line and all header fields have been read. */
  onHead?: () => void;
};

/**
 * Reads the HTTP/1.x response to a GET request from a connection used for nothing else. It is as lenient as Go's net/http, because Node's
 * parser rejects some responses that Go clients accept from servers in containers. Rejects with an error worded as in Go, or with the
 * connection's error. Leaves the connection open. The caller must enforce a timeout.
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

/** Whether another response follows, as after any 1xx except 101, which switches to another protocol. */
function isInterim(status: number): boolean {
  return status >= 100 && status < 200 && status !== 101;
}
