/** Sends a question to a resolver over UDP or TCP. */
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import { PodwrightError, raceAbort, wrapError } from '@podwright/base';
import { MessageWriter } from '../wire/message-writer.ts';
import { FLAG, MAX_MESSAGE_BYTES, MIN_UDP_BYTES } from '../wire/numbers.ts';
import { optRecord } from '../wire/opt-record.ts';
import type { Question } from '../wire/read-query.ts';
import { FrameReader, framed } from '../wire/tcp-frames.ts';
import { MAX_FOREIGN_ANSWERS } from './limits.ts';
import type { Endpoint } from './resolvers.ts';
import { type Asked, readAnswer, type UpstreamAnswer } from './upstream-answer.ts';

/** A question to forward, with two flags copied from the client's query (RFC 4035, section 3). */
export type ForwardedQuestion = Question & { dnssecOk: boolean; checkingDisabled: boolean };

export type ExchangeOptions = { endpoint: Endpoint; timeoutMs: number; withEdns: boolean; signal: AbortSignal };

/** Returned by `askByUdp` after several responses that do not match the question, which might be attempts at spoofing. */
export const FORGED = 'forged';

/**
 * Asks over UDP, with an unpredictable ID and source port (RFC 5452). The kernel only delivers responses from the resolver's address.
 * Throws `deadline_exceeded` on timeout, and `unavailable` if the resolver cannot be reached.
 */
export async function askByUdp(
  question: ForwardedQuestion,
  { endpoint, timeoutMs, withEdns, signal }: ExchangeOptions,
): Promise<UpstreamAnswer | typeof FORGED> {
  const { asked, message } = queryOf(question, withEdns);
  const socket = createSocket(isIPv6(endpoint.address) ? 'udp6' : 'udp4');
  const { promise, resolve, reject } = Promise.withResolvers<UpstreamAnswer | typeof FORGED>();
  const timer = setTimeout(() => reject(timedOut(endpoint)), Math.min(timeoutMs, MAX_WAIT_MS));
  let foreign = 0;
  socket.on('message', (bytes: Buffer) => {
    const answer = readOrReject(bytes, asked, reject);
    if (answer !== undefined) resolve(answer);
    else if (++foreign >= MAX_FOREIGN_ANSWERS) resolve(FORGED);
  });
  socket.on('error', (error) => reject(unreachable(endpoint, error)));
  try {
    socket.connect(endpoint.port, endpoint.address, () => {
      socket.send(message, (error) => {
        if (error) reject(unreachable(endpoint, error));
      });
    });
    return await raceAbort(promise, signal);
  } finally {
    clearTimeout(timer);
    socket.close();
  }
}

/** Asks over TCP. Throws like `askByUdp`, and also `invalid_argument` if the response is malformed or does not match the question. */
export async function askByTcp(
  question: ForwardedQuestion,
  { endpoint, timeoutMs, withEdns, signal }: ExchangeOptions,
): Promise<UpstreamAnswer> {
  const { asked, message } = queryOf(question, withEdns);
  const { promise, resolve, reject } = Promise.withResolvers<UpstreamAnswer>();
  const socket = connect({ host: endpoint.address, port: endpoint.port });
  const timer = setTimeout(() => reject(timedOut(endpoint)), Math.min(timeoutMs, MAX_WAIT_MS));
  const onMessage = (bytes: Buffer) => {
    const answer = readOrReject(bytes, asked, reject);
    if (answer === undefined) reject(new PodwrightError('invalid_argument', 'the answer is to another question'));
    else resolve(answer);
  };
  const frames = new FrameReader({ maxBytes: MAX_MESSAGE_BYTES, onMessage });
  socket.on('data', (chunk: Buffer) => frames.add(chunk));
  socket.on('error', (error) => reject(unreachable(endpoint, error)));
  socket.on('close', () => reject(unreachable(endpoint, new Error('the connection was closed'))));
  socket.write(framed(message));
  try {
    return await raceAbort(promise, signal);
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

/** Longest timeout of an attempt to query a resolver. */
const MAX_WAIT_MS = 60_000;

function queryOf(question: ForwardedQuestion, withEdns: boolean): { asked: Asked; message: Buffer } {
  const id = randomInt(0x1_0000);
  const writer = new MessageWriter(MIN_UDP_BYTES);
  writer.begin(id, FLAG.recursionDesired | (question.checkingDisabled ? FLAG.checkingDisabled : 0));
  writer.question(question);
  if (withEdns) writer.encoded('additional', optRecord({ highCode: 0, dnssecOk: question.dnssecOk }));
  return { asked: { id, question }, message: writer.bytes() };
}

function readOrReject(bytes: Buffer, asked: Asked, reject: (error: unknown) => void): UpstreamAnswer | undefined {
  try {
    return readAnswer(bytes, asked);
  } catch (error) {
    reject(error);
    return undefined;
  }
}

function timedOut({ address }: Endpoint): PodwrightError {
  return new PodwrightError('deadline_exceeded', `resolver ${address} did not answer`);
}

function unreachable({ address }: Endpoint, cause: unknown): PodwrightError {
  return wrapError(`ask resolver ${address}`, cause, 'unavailable');
}
