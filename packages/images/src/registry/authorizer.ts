import { PodwrightError } from '@podwright/base';
import { type AuthChallenge, parseChallenges } from './auth-challenge.ts';
import type { HttpClient, HttpResponse } from './http-client.ts';
import type { RegistryAuth } from './registry-auth.ts';
import { isLoopback, type RegistryHost } from './registry-host.ts';
import { basicCredentials, type Credentials, fetchToken, type Token } from './token.ts';

/**
 * How to authorize requests to a host that has sent a challenge: Basic authentication, a token from a token server, or the registry token
 * from the credentials.
 */
type HostState =
  | { kind: 'basic' }
  | { kind: 'token'; challenge: AuthChallenge; registryUrl: string; token: Promise<Token> }
  | { kind: 'given'; token: string };

/**
 * Answers the authentication challenges of the hosts contacted by a single pull. Tokens are not shared between pulls, which might have
 * different permissions. Concurrent requests share a token, which is refetched when it expires.
 */
export class Authorizer {
  readonly #http: HttpClient;
  readonly #credentials: Credentials;
  readonly #server: string;
  readonly #scope: string;
  readonly #signal: AbortSignal;
  readonly #states = new Map<string, HostState>();

  /** `signal`: the pull's signal, which also aborts token requests. */
  constructor(options: { http: HttpClient; auth: RegistryAuth; repositoryPath: string; signal: AbortSignal }) {
    this.#http = options.http;
    this.#signal = options.signal;
    this.#credentials = decodeCredentials(options.auth);
    this.#server = serverOf(options.auth.serverAddress ?? '');
    this.#scope = `repository:${options.repositoryPath}:pull`;
  }

  /** Whether the pull has credentials; false for anonymous pulls. */
  get hasCredentials(): boolean {
    return Object.values(this.#credentials).some((value) => value !== '');
  }

  /** Returns the `authorization` header for a host; `undefined` if the host has not sent a challenge yet. */
  async headerFor(host: RegistryHost): Promise<string | undefined> {
    const state = this.#states.get(host.baseUrl);
    switch (state?.kind) {
      case undefined:
        return undefined;
      case 'basic':
        return `Basic ${basicCredentials(this.#credentials)}`;
      case 'given':
        return `Bearer ${state.token}`;
      case 'token': {
        const token = await state.token;
        if (token.expiresAtMs > Date.now()) return `Bearer ${token.value}`;
        return `Bearer ${(await this.#renew(host, state)).value}`;
      }
    }
  }

  /**
   * Handles a 401 response to a request sent with the authorization `sent`. Returns whether to repeat the request with a new authorization.
   * Returns false if there is none, or if the challenge did not come from the host itself: the target of a redirect must not decide where
   * credentials are sent (CVE-2020-15157).
   */
  async answer(host: RegistryHost, response: HttpResponse, sent: string | undefined): Promise<boolean> {
    if (!isFrom(host, response.url)) return false;
    const current = await this.headerFor(host);
    if (current !== undefined && current !== sent) return true; // another request has answered the challenge in the meantime
    const known = this.#states.get(host.baseUrl);
    if (known !== undefined && known.kind !== 'token') return false;
    const state = this.#stateFor(response, host);
    if (state === undefined) return false;
    this.#states.set(host.baseUrl, state);
    if (state.kind === 'token') await state.token;
    return true;
  }

  #stateFor(response: HttpResponse, host: RegistryHost): HostState | undefined {
    const challenges = parseChallenges(response.headers['www-authenticate'] ?? '');
    const { registryToken, username, password } = this.#credentialsFor(host, response.url);
    const bearer = challenges.find(({ scheme }) => scheme === 'bearer');
    if (bearer !== undefined && registryToken !== '') return { kind: 'given', token: registryToken };
    if (bearer !== undefined) {
      const source = { challenge: bearer, registryUrl: response.url };
      return { kind: 'token', ...source, token: this.#fetch(source, host) };
    }
    const basic = challenges.some(({ scheme }) => scheme === 'basic');
    return basic && (username !== '' || password !== '') ? { kind: 'basic' } : undefined;
  }

  /**
   * Returns the credentials for a host. Credentials with a server address are sent only to that host. Those without one are sent to the
   * registry and its mirrors, as in containerd, but not to a mirror over plain HTTP unless it is on loopback.
   */
  #credentialsFor({ baseUrl, namespace }: RegistryHost, url: string): Credentials {
    if (this.#server !== '') return this.#server === serverOf(baseUrl) ? this.#credentials : anonymous;
    const { protocol, host } = new URL(url);
    return namespace !== '' && protocol === 'http:' && !isLoopback(host) ? anonymous : this.#credentials;
  }

  #renew(host: RegistryHost, expired: HostState & { kind: 'token' }): Promise<Token> {
    const current = this.#states.get(host.baseUrl);
    if (current !== expired && current?.kind === 'token') return current.token;
    const token = this.#fetch(expired, host);
    this.#states.set(host.baseUrl, { ...expired, token });
    return token;
  }

  #fetch(source: { challenge: AuthChallenge; registryUrl: string }, host: RegistryHost): Promise<Token> {
    const token = fetchToken({
      http: this.#http,
      challenge: source.challenge,
      registryUrl: source.registryUrl,
      scope: this.#scope,
      credentials: this.#credentialsFor(host, source.registryUrl),
      host,
      signal: this.#signal,
    });
    // a failed token request is not cached; the next 401 triggers a new one
    token.catch(() => {
      const state = this.#states.get(host.baseUrl);
      if (state?.kind === 'token' && state.token === token) this.#states.delete(host.baseUrl);
    });
    return token;
  }
}

/**
 * Whether a URL belongs to this registry host: same host name and port, and either the host's own scheme, https, or plain HTTP if the host
 * falls back to it.
 */
function isFrom({ baseUrl, fallsBackToHttp }: RegistryHost, url: string): boolean {
  const [own, other] = [new URL(baseUrl), new URL(url)];
  const encrypted = other.protocol === 'https:';
  return other.host === own.host && (other.protocol === own.protocol || encrypted || fallsBackToHttp);
}

const anonymous: Credentials = { username: '', password: '', identityToken: '', registryToken: '' };

/** Returns the host and port of a URL or address. All host names of Docker Hub map to the same one. */
function serverOf(address: string): string {
  const host = URL.parse(address.includes('://') ? address : `https://${address}`)?.host ?? address;
  return ['index.docker.io', 'registry-1.docker.io'].includes(host) ? 'docker.io' : host;
}

/** Decodes the credentials. As in Docker's `config.json`, `auth` is used only if both username and password are absent. */
function decodeCredentials(auth: RegistryAuth): Credentials {
  const { identityToken = '', registryToken = '' } = auth;
  const plain = { username: auth.username ?? '', password: auth.password ?? '' };
  if (!auth.auth || plain.username !== '' || plain.password !== '') return { ...plain, identityToken, registryToken };
  const text = Buffer.from(auth.auth, 'base64').toString('utf8').replace(/\0+$/, '');
  const colon = text.indexOf(':');
  if (colon < 0)
    throw new PodwrightError('invalid_argument', 'registry credentials: "auth" is not base64 of user:password');
  return { username: text.slice(0, colon), password: text.slice(colon + 1), identityToken, registryToken };
}
