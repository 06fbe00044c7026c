import { type ClientRequest, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import type { Duplex } from 'node:stream';
import { codeOfHttpStatus, errorMessage, PodwrightError, withTimeout } from '@podwright/base';
import { UPGRADE_ANSWER_TIMEOUT_MS } from '../limits.ts';
import { TERMINAL_HEADER } from '../server/terminal-name.ts';
import { SpdyConnection } from '../spdy/connection.ts';

/**
 * The target of an upgrade request: an absolute URL, or a path on a unix socket. `terminal` is the value of the environment variable TERM
 * for the command, if it gets a terminal; only Podwright's servers use it.
 */
export type UpgradeTarget = ({ url: string } | { socketPath: string; path: string }) & { terminal?: string };

const MAX_REFUSAL_BYTES = 64 << 10;

export type SpdyUpgradeOptions = {
  /** Subprotocols to offer to the server, in order of preference. */
  protocols: string[];
  /** Aborting this signal cancels the connection attempt, but does not close a connection that is already open. */
  signal?: AbortSignal;
};

/**
 * Upgrades a POST request to SPDY/3.1, as Kubernetes clients do. Returns the connection and the subprotocol that the server chose. If the
 * server rejects the upgrade, throws its message with an error code that matches the HTTP status. Throws `unavailable` if the server cannot
 * be reached, and `deadline_exceeded` if there is no response for 30 s.
 */
export async function connectSpdy(
  target: UpgradeTarget,
  options: SpdyUpgradeOptions,
): Promise<{ connection: SpdyConnection; protocol: string }> {
  const { transport, head, protocol } = await upgradeToSpdy(target, options);
  return { connection: new SpdyConnection(transport, { role: 'client', head }), protocol };
}

/** Like `connectSpdy`, but returns the raw connection. `head` contains the bytes received along with the response. */
export async function upgradeToSpdy(target: UpgradeTarget, options: SpdyUpgradeOptions): Promise<Upgraded> {
  using deadline = withTimeout(options.signal, UPGRADE_ANSWER_TIMEOUT_MS, 'upgrade to SPDY');
  deadline.throwIfAborted();
  return await upgrade(target, { protocols: options.protocols, signal: deadline });
}

type Upgraded = { transport: Duplex; head: Buffer; protocol: string };

function upgrade(target: UpgradeTarget, options: { protocols: string[]; signal: AbortSignal }): Promise<Upgraded> {
  const { promise, resolve, reject } = Promise.withResolvers<Upgraded>();
  const { signal, protocols } = options;
  const outgoing = open(target, {
    Connection: 'Upgrade',
    Upgrade: 'SPDY/3.1',
    'X-Stream-Protocol-Version': protocols, // one header line each, because old servers do not split lists
    'Content-Length': '0',
    ...(target.terminal !== undefined && { [TERMINAL_HEADER]: target.terminal }),
  });
  const onAbort = () => {
    reject(signal.reason);
    outgoing.destroy();
  };
  signal.addEventListener('abort', onAbort, { once: true });
  outgoing.on('upgrade', (response, transport, head) => {
    signal.removeEventListener('abort', onAbort);
    const chosen = response.headers['x-stream-protocol-version'];
    resolve({ transport, head, protocol: String(chosen ?? protocols.at(-1)) });
  });
  outgoing.on('response', (response) => readRefusal(response).then(reject, reject));
  outgoing.on('error', (cause) =>
    reject(new PodwrightError('unavailable', `upgrade to SPDY: ${errorMessage(cause)}`, { cause })),
  );
  outgoing.end();
  return promise;
}

function open(target: UpgradeTarget, headers: Record<string, string | string[]>): ClientRequest {
  if ('socketPath' in target) {
    const { socketPath, path } = target;
    const options = { socketPath, path, method: 'POST', headers: { host: 'localhost', ...headers }, agent: false };
    return httpRequest({ ...options, servername: '' } as RequestOptions); // avoids a search for a TLS server name in node:http (3 ms)
  }
  const { url } = target;
  // node:https takes 8 ms to load, and a unix socket does not need it
  const send = url.startsWith('https:') ? process.getBuiltinModule('node:https').request : httpRequest;
  return send(url, { method: 'POST', headers, agent: false });
}

/** Reads the server's error message, from a meta/v1 Status object or plain text. */
async function readRefusal(response: IncomingMessage): Promise<PodwrightError> {
  let body = '';
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (body.length < MAX_REFUSAL_BYTES) body += chunk.toString('utf8');
  }
  const status = response.statusCode ?? 0;
  const message = messageOf(body.trim()) || `the server answered ${status} instead of upgrading to SPDY`;
  return new PodwrightError(codeOfHttpStatus(status, 'failed_precondition') ?? 'internal', message);
}

function messageOf(body: string): string {
  try {
    const status: unknown = JSON.parse(body);
    const hasMessage = typeof status === 'object' && status !== null && 'message' in status;
    return hasMessage ? String(status.message) : body;
  } catch {
    return body;
  }
}
