import { type ByteBudget, PodwrightError } from '@podwright/base';
import type { RawCall, RawEnd } from '@podwright/grpc';
import type { Backend, ProxyAnswer, ProxyRequest } from './backend.ts';

export type AnswerOptions = {
  backend: Backend;
  /** Returns whether a gRPC method responds with a single message or a stream, or `undefined` for an unknown method. */
  kindOf(path: string): 'unary' | 'server_streaming' | undefined;
  /** Limits the total size of responses that clients have yet to read. */
  answers: ByteBudget;
  cutConnection(): void;
};

/** Responds to a call through the backend. Never rejects: errors are sent to the client. */
export async function answerCall(call: RawCall, options: AnswerOptions): Promise<void> {
  try {
    const receivedAtMs = performance.now();
    const path = call.header(':path') ?? '';
    const kind = options.kindOf(path);
    const request: ProxyRequest = {
      path,
      fields: call.fields,
      message: kind === undefined ? undefined : await onlyMessage(call),
      receivedAtMs,
      signal: call.signal,
      messages: () => call.messages(),
      cutConnection: options.cutConnection,
    };
    const answer = await options.backend(request);
    if (kind === 'unary') await reply(call, answer, options.answers);
    else await sendAll(call, answer, options.answers);
  } catch (error) {
    call.fail(error);
  }
}

async function onlyMessage(call: RawCall): Promise<Buffer> {
  let only: Buffer | undefined;
  for await (const message of call.messages()) {
    if (only !== undefined) throw new PodwrightError('unimplemented', 'a request of several messages, not one');
    only = message;
  }
  if (only === undefined) throw new PodwrightError('unimplemented', 'a request without a message');
  return only;
}

/** Sends a response. A single message, the usual case, is sent together with the headers and trailers. */
async function reply(call: RawCall, answer: ProxyAnswer, answers: ByteBudget): Promise<void> {
  const messages = answer.messages[Symbol.asyncIterator]();
  const first = await messages.next();
  const second = first.done ? first : await messages.next();
  if (!second.done || first.done || answer.headers === undefined) {
    const all = restored([first, second], { [Symbol.asyncIterator]: () => messages });
    return await sendAll(call, { ...answer, messages: all }, answers);
  }
  const end = await answer.end();
  if (end.kind === 'trailers') call.reply({ headers: answer.headers, message: first.value, trailers: end.fields });
  else finish(call, end);
}

async function* restored(begun: IteratorResult<Buffer>[], rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for (const result of begun) if (!result.done) yield result.value;
  yield* rest;
}

async function sendAll(call: RawCall, answer: ProxyAnswer, answers: ByteBudget): Promise<void> {
  if (answer.headers !== undefined) call.open(answer.headers);
  for await (const message of answer.messages) {
    using share = answers.open();
    if (!share.reserve(message.length))
      throw new PodwrightError('resource_exhausted', 'too many bytes of answers have not been read by clients');
    await call.send(message);
  }
  finish(call, await answer.end());
}

function finish(call: RawCall, end: RawEnd): void {
  if (end.kind === 'trailers') call.end(end.fields);
  else if (end.kind === 'reset') call.reset(end.code);
  else call.fail(end.error);
}
