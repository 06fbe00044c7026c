import { type ClientRequest, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { PodwrightError, wrapError } from '@podwright/base';
import { SpdyConnection } from '../spdy/connection.ts';

/** Where to upgrade: an absolute URL, or a path on a unix socket. */
export type UpgradeTarget = { url: string } | { socketPath: string; path: string };

/** Upgrades a POST to SPDY/3.1, as Kubernetes' clients do; `protocols` are offered best first. */
export async function connectSpdy(
  target: UpgradeTarget,
  options: { protocols: string[]; signal?: AbortSignal },
): Promise<{ connection: SpdyConnection; protocol: string }> {
  const { transport, head, protocol } = await upgrade(target, options);
  return { connection: new SpdyConnection(transport, { role: 'client', head }), protocol };
}

function upgrade(
  target: UpgradeTarget,
  options: { protocols: string[]; signal?: AbortSignal },
): Promise<{ transport: Duplex; head: Buffer; protocol: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ transport: Duplex; head: Buffer; protocol: string }>();
  const outgoing = open(target, {
    Connection: 'Upgrade',
    Upgrade: 'SPDY/3.1',
    'X-Stream-Protocol-Version': options.protocols,
    'Content-Length': '0',
  });
  const onAbort = () => outgoing.destroy(options.signal?.reason);
  options.signal?.addEventListener('abort', onAbort, { once: true });
  outgoing.on('upgrade', (response, transport, head) => {
    options.signal?.removeEventListener('abort', onAbort);
    const chosen = response.headers['x-stream-protocol-version'];
    resolve({ transport, head, protocol: String(chosen ?? options.protocols[0] ?? '') });
  });
  outgoing.on('response', (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.length < 16 && chunks.push(chunk));
    response.on('end', () => reject(refusal(response.statusCode ?? 0, Buffer.concat(chunks).toString('utf8'))));
  });
  outgoing.on('error', (error) => reject(wrapError('upgrade to SPDY', error)));
  outgoing.end();
  return promise;
}

function open(target: UpgradeTarget, headers: Record<string, string | string[]>): ClientRequest {
  if ('socketPath' in target) {
    return httpRequest({
      socketPath: target.socketPath,
      path: target.path,
      method: 'POST',
      headers: { host: 'localhost', ...headers },
      agent: false,
    });
  }
  const send = target.url.startsWith('https:') ? httpsRequest : httpRequest;
  return send(target.url, { method: 'POST', headers, agent: false });
}

function refusal(status: number, body: string): PodwrightError {
  let message = body.trim();
  try {
    message = (JSON.parse(body) as { message?: string }).message ?? message;
  } catch {
    // Plain text is fine.
  }
  const code =
    status === 404
      ? 'not_found'
      : status === 400
        ? 'invalid_argument'
        : status === 403
          ? 'permission_denied'
          : 'internal';
  return new PodwrightError(code, message || `the server answered ${status} instead of upgrading`);
}
