import { sign, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { makeCertificates, type RegistrySettings } from './docker-registry.ts';

/** A token request. `user` is '' if the credentials are invalid. */
export type TokenRequest = { method: string; user: string; scopes: string[] };

/** Chooses the response: a valid token or a fault. */
export type TokenFault = (request: TokenRequest) => 'good' | 'expired' | 'nothing allowed' | 'refused';

const service = 'made registry';
const issuer = 'made issuer';
/** Age of expired tokens: more than the minute of leeway that registries give them. */
const longAgoSeconds = 600;

/**
 * A token server (distribution's token authentication specification) that accepts the user `me` with the password `secret`, and a refresh
 * token.
 */
export class TokenServer implements AsyncDisposable {
  readonly requests: TokenRequest[] = [];
  fault: TokenFault = () => 'good';
  readonly #server: Server;
  readonly #certificate: string;
  readonly #key: Buffer;
  readonly #rootCertificates: string;

  private constructor(directory: string) {
    const { ca, certificate, key } = makeCertificates(directory, 'tokens');
    this.#certificate = new X509Certificate(readFileSync(certificate)).raw.toString('base64');
    this.#key = readFileSync(key);
    this.#rootCertificates = ca;
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  static async start(directory: string): Promise<TokenServer> {
    const server = new TokenServer(directory);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  /** Settings for a registry that trusts this server. */
  get settings(): RegistrySettings {
    const { port } = this.#server.address() as AddressInfo;
    const realm = `http://127.0.0.1:${port}/token`;
    return { token: { realm, service, issuer, rootCertificates: this.#rootCertificates } };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(incoming);
    this.requests.push(request);
    const fault = this.fault(request);
    if (fault === 'refused') {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ errors: [{ code: 'UNAUTHORIZED', message: 'who are you?' }] }));
      return;
    }
    const allowed = fault === 'nothing allowed' || request.user === '' ? [] : request.scopes;
    const token = this.#sign(allowed, fault === 'expired' ? -longAgoSeconds : 300);
    response.end(JSON.stringify({ token, access_token: token, expires_in: 300 }));
  }

  /** Signs a JSON Web Token (RFC 7519) for scopes of the form `repository:NAME:pull,push`. */
  #sign(scopes: string[], lifetimeSeconds: number): string {
    const now = Math.floor(Date.now() / 1000);
    const access = scopes.map((scope) => {
      const [type, name, actions = ''] = scope.split(':');
      return { type, name, actions: actions.split(',') };
    });
    const from = now - longAgoSeconds * 2;
    const claims = { iss: issuer, sub: 'me', aud: service, exp: now + lifetimeSeconds, nbf: from, iat: from, access };
    const header = { typ: 'JWT', alg: 'ES256', x5c: [this.#certificate] };
    const text = [header, { ...claims, jti: String(this.requests.length) }]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    const signature = sign('sha256', Buffer.from(text), { key: this.#key, dsaEncoding: 'ieee-p1363' });
    return `${text}.${signature.toString('base64url')}`;
  }
}

async function readRequest(incoming: IncomingMessage): Promise<TokenRequest> {
  const { method = '', url = '', headers } = incoming;
  const parameters =
    method === 'POST' ? new URLSearchParams(await bodyOf(incoming)) : new URL(url, 'http://x').searchParams;
  const basic = Buffer.from((headers.authorization ?? '').replace(/^Basic /, ''), 'base64').toString();
  const known = basic === 'me:secret' || parameters.get('refresh_token') === 'my refresh token';
  const scopes = parameters.getAll('scope').flatMap((scope) => scope.split(' '));
  return { method, user: known ? 'me' : '', scopes };
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
