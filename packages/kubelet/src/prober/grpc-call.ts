import { type ClientHttp2Stream, connect, constants } from 'node:http2';
import { isDeadlineExceeded } from '@podwright/base';
import { codeName, decodeStatusMessage } from '@podwright/grpc';
import { formatDuration } from '@podwright/kube-api';
import { AnswerBudget, BoundedConnection } from './bounded-connection.ts';
import { connectionProblem, hostAndPort } from './dial-error.ts';
import { GRPC_ANSWER_LIMITS } from './limits.ts';

/** Names of the values of `grpc.health.v1.HealthCheckResponse.ServingStatus`, by number. */
const STATUS_NAMES = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

type Reply = { code: string; message: string; body: Buffer };

export type GrpcTarget = { host: string; port: number; service: string; timeoutMs: number };

/**
 * Calls `grpc.health.v1.Health/Check` without TLS. Resolves with `undefined` if the service reports SERVING, otherwise with upstream's
 * failure message. Rejects only if the signal aborts for a reason other than a timeout. The request and response messages have a single
 * field each, so they are encoded and decoded by hand.
 */
export async function checkGrpcHealth(target: GrpcTarget, signal: AbortSignal): Promise<string | undefined> {
  const where = hostAndPort(target.host, target.port);
  const within = formatDuration(target.timeoutMs);
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const budget = new AnswerBudget(GRPC_ANSWER_LIMITS);
  const createConnection = () => new BoundedConnection(target, budget);
  const session = connect(`http://${where}`, { createConnection, settings: { enablePush: false } });
  let connected = false;
  session.on('remoteSettings', () => {
    connected = true;
  });
  const onAbort = () =>
    resolve(
      connected
        ? `timeout: health rpc did not complete within ${within}`
        : `timeout: failed to connect service "${where}" within ${within}: context deadline exceeded`,
    );
  signal.addEventListener('abort', onAbort, { once: true });
  const fail = (error: unknown) => {
    const problem = connectionProblem(error, target);
    resolve(
      connected
        ? `error: health rpc probe failed: rpc error: code = Unavailable desc = ${problem}`
        : `error: failed to connect service at "${where}": ${problem}`,
    );
  };
  session.on('error', fail);
  const stream = request(session, frame(requestMessage(target.service)));
  stream.on('error', fail);
  readReply(stream, { budget, onReply: (reply) => resolve(judge(reply)) });
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
    session.destroy();
    if (signal.aborted && !isDeadlineExceeded(signal.reason)) signal.throwIfAborted();
  }
}

function request(session: ReturnType<typeof connect>, message: Buffer): ClientHttp2Stream {
  const stream = session.request({
    [constants.HTTP2_HEADER_METHOD]: 'POST',
    [constants.HTTP2_HEADER_PATH]: '/grpc.health.v1.Health/Check',
    [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc',
    [constants.HTTP2_HEADER_TE]: 'trailers',
    [constants.HTTP2_HEADER_USER_AGENT]: 'kube-probe/1.36',
  });
  stream.end(message);
  return stream;
}

function readReply(
  stream: ClientHttp2Stream,
  { budget, onReply }: { budget: AnswerBudget; onReply: (reply: Reply) => void },
): void {
  const chunks: Buffer[] = [];
  let status = '2';
  let message = '';
  const readStatus = (headers: Record<string, unknown>) => {
    if (headers['grpc-status'] !== undefined) status = String(headers['grpc-status']);
    if (headers['grpc-message'] !== undefined) message = decodeStatusMessage(String(headers['grpc-message']));
  };
  stream.on('response', readStatus);
  stream.on('trailers', readStatus);
  stream.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    if (!budget.spend(0)) stream.session?.destroy(new Error('the answer is too large'));
  });
  stream.on('end', () => onReply({ code: codeName(Number(status)), message, body: Buffer.concat(chunks) }));
}

/** Returns the failure message for a health-check response; `undefined` if the service reports SERVING. */
function judge({ code, message, body }: Reply): string | undefined {
  if (code === 'Unimplemented')
    return `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${message}`;
  if (code !== 'OK') return `error: health rpc probe failed: rpc error: code = ${code} desc = ${message}`;
  const status = STATUS_NAMES[servingStatus(body)] ?? String(servingStatus(body));
  return status === 'SERVING' ? undefined : `service unhealthy (responded with "${status}")`;
}

/** Encodes a HealthCheckRequest. Field 1 is the service name, which is omitted if empty. */
function requestMessage(service: string): Buffer {
  const name = Buffer.from(service);
  return name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a, ...varint(name.length)]), name]);
}

/** Encodes a protobuf varint: groups of seven bits, least significant first. */
function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}

/** Encodes a gRPC frame: compressed flag (0), message length, message. */
function frame(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** Decodes a HealthCheckResponse. Field 1 is the serving status; if absent, the status is 0 (UNKNOWN). */
function servingStatus(framed: Buffer): number {
  return framed.length >= 7 && framed[5] === 0x08 ? framed[6]! : 0;
}
