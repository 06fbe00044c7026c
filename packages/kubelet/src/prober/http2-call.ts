import { connect, type OutgoingHttpHeaders } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { BoundedBytes, type RequestFields } from '@podwright/base';
import type { AnswerBudget } from './bounded-connection.ts';
import { type CallUrl, requestTarget } from './call-url.ts';
import { MAX_PROBE_BODY_BYTES } from './limits.ts';

/** Connection-specific headers, which HTTP/2 forbids (RFC 9113, 8.2.2). */
const CONNECTION_FIELDS = [
  'Connection',
  'Host',
  'Keep-Alive',
  'Proxy-Connection',
  'Te',
  'Transfer-Encoding',
  'Upgrade',
];

/** A response's status, Location header, and the beginning of its body. `bodyError`: set if the body ended prematurely. */
export type Reply = { status: number; location: string | undefined; body: string; bodyError?: string };

/** Sends a GET on a connection that has negotiated HTTP/2. The caller destroys the connection and enforces the timeout. */
export function requestOverHttp2(
  connection: TLSSocket,
  { url, host, fields }: { url: CallUrl; host: string; fields: RequestFields },
  { budget, onHead }: { budget: AnswerBudget; onHead: () => void },
): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const session = connect(`https://${url.host}`, {
    createConnection: () => connection,
    settings: { enablePush: false },
  });
  session.on('error', reject);
  const sent = Object.entries(fields).filter(([name]) => !CONNECTION_FIELDS.includes(name));
  const stream = session.request({ ...Object.fromEntries(sent), ':authority': host, ':path': requestTarget(url) });
  let head: OutgoingHttpHeaders | undefined;
  const body = new BoundedBytes(MAX_PROBE_BODY_BYTES);
  const finish = (bodyError?: string) => {
    if (head === undefined) return reject(new Error('EOF'));
    const location = head.location === undefined ? undefined : String(head.location);
    const answer = { status: Number(head[':status']), location, body: body.bytes().toString('utf8') };
    resolve({ ...answer, ...(bodyError === undefined ? {} : { bodyError }) });
  };
  stream.on('response', (headers) => {
    head = headers;
    onHead();
  });
  stream.on('data', (chunk: Buffer) => {
    body.add(chunk);
    if (body.isCut || !budget.spend(0)) finish();
  });
  stream.on('end', () => finish());
  stream.on('error', (error) => (head === undefined ? reject(error) : finish('unexpected EOF')));
  stream.on('close', () => finish('unexpected EOF'));
  return promise;
}
