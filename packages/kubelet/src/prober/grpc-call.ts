import { connect, constants } from 'node:http2';
import { isIPv6 } from 'node:net';
import { errorMessage, PodwrightError } from '@podwright/base';
import { GRPC_ANSWER_LIMITS } from '../limits.ts';
import { AnswerBudget, BoundedConnection } from './bounded-connection.ts';

/** `grpc.health.v1.HealthCheckResponse.ServingStatus`. */
const SERVING = 1;

/**
 * Calls `grpc.health.v1.Health/Check` in plain text. Resolves with the serving status; rejects when there is no such
 * service or no answer. The two messages have one field each, so they are written and read by hand.
 */
export async function checkGrpcHealth(
  target: { host: string; port: number; service: string },
  signal: AbortSignal,
): Promise<{ serving: boolean; status: number }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ serving: boolean; status: number }>();
  const where = `${isIPv6(target.host) ? `[${target.host}]` : target.host}:${target.port}`;
  const budget = new AnswerBudget(GRPC_ANSWER_LIMITS);
  const createConnection = () => new BoundedConnection(target, budget);
  const session = connect(`http://${where}`, { createConnection, settings: { enablePush: false } });
  const fail = (reason: string, cause?: unknown) =>
    reject(new PodwrightError('unavailable', `check the gRPC health of ${where}: ${reason}`, { cause }));
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  session.on('error', (error) => fail(errorMessage(error), error));
  const stream = session.request({
    [constants.HTTP2_HEADER_METHOD]: 'POST',
    [constants.HTTP2_HEADER_PATH]: '/grpc.health.v1.Health/Check',
    [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc',
    [constants.HTTP2_HEADER_TE]: 'trailers',
    [constants.HTTP2_HEADER_USER_AGENT]: 'kube-probe',
  });
  const chunks: Buffer[] = [];
  let grpcStatus: string | undefined;
  const readStatus = (headers: Record<string, unknown>) => {
    if (headers['grpc-status'] !== undefined) grpcStatus = String(headers['grpc-status']);
  };
  stream.on('response', readStatus);
  stream.on('trailers', readStatus);
  stream.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    if (!budget.spend(0)) session.destroy(new Error('the answer is too large'));
  });
  stream.on('error', (error) => fail(errorMessage(error), error));
  stream.on('end', () => {
    if (grpcStatus !== '0')
      return fail(grpcStatus === '12' ? 'it has no health service' : `status ${grpcStatus ?? 'unknown'}`);
    const status = servingStatus(Buffer.concat(chunks));
    resolve({ serving: status === SERVING, status });
  });
  stream.end(frame(requestMessage(target.service)));
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
    session.destroy();
  }
}

/** HealthCheckRequest: field 1 is the service's name, left out when empty. */
function requestMessage(service: string): Buffer {
  const name = Buffer.from(service);
  return name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a, name.length]), name]);
}

/** A gRPC frame: not compressed, length, message. */
function frame(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** HealthCheckResponse: field 1 is the status, 0 (unknown) when it is left out. */
function servingStatus(framed: Buffer): number {
  return framed.length >= 7 && framed[5] === 0x08 ? framed[6]! : 0;
}
