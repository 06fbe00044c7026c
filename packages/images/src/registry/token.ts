import { PodwrightError } from '@podwright/base';
import * as z from 'zod';
import { MAX_TOKEN_BYTES } from '../limits.ts';
import { decode } from '../spec/decode-json.ts';
import type { AuthChallenge } from './auth-challenge.ts';
import type { HttpClient, HttpRequest } from './http-client.ts';
import { registryError } from './registry-error.ts';
import type { RegistryHost } from './registry-host.ts';

/** Decoded credentials; '' if missing. */
export type Credentials = { username: string; password: string; identityToken: string; registryToken: string };

export type Token = { value: string; expiresAtMs: number };

export type TokenRequest = {
  http: HttpClient;
  challenge: AuthChallenge;
  /** Scope to request if the challenge has none. */
  scope: string;
  credentials: Credentials;
  /** The URL that returned the challenge; it is on `host` itself. */
  registryUrl: string;
  /** The host that sent the challenge. Token requests use its TLS settings and, if the token server is the same host, its headers. */
  host: Pick<RegistryHost, 'tls' | 'headers' | 'dialTimeoutMs'>;
  signal: AbortSignal;
};

/** Lifetime of a token without `expires_in` (distribution's token authentication specification). */
const DEFAULT_LIFETIME_SECONDS = 60;
/** How long before expiry a token is renewed, so that it does not expire in flight. */
const MARGIN_MS = 5_000;

const responseSchema = z.object({
  token: z.string().optional(),
  access_token: z.string().optional(),
  expires_in: z.number().optional(),
});

/** Returns `username:password` in base64, as used in a Basic `Authorization` header. */
export function basicCredentials({ username, password }: Credentials): string {
  return Buffer.from(`${username}:${password}`).toString('base64');
}

/**
 * Gets a token from the server named in a Bearer challenge: with a GET request and any Basic credentials or, if there is an identity token,
 * with an OAuth2 refresh POST request. Rejects with the token server's error.
 */
export async function fetchToken(options: TokenRequest): Promise<Token> {
  const { http, credentials } = options;
  const realm = realmOf(options);
  const startedAtMs = Date.now();
  const { tls, dialTimeoutMs, headers } = options.host;
  const isSameHost = realm.origin === new URL(options.registryUrl).origin;
  const common = { tls, dialTimeoutMs, signal: options.signal, headers: isSameHost ? headers : {} };
  const response = await http.send(
    credentials.identityToken === '' ? getRequest(realm, options, common) : refreshRequest(realm, options, common),
  );
  const what = `get a token from ${realm.origin}`;
  if (response.status !== 200)
    throw await registryError(response, what, {
      hasCredentials: Object.values(credentials).some((value) => value !== ''),
    });
  const answer = decode(responseSchema, await response.document(MAX_TOKEN_BYTES, what), what);
  const value = answer.token || answer.access_token;
  if (!value || /[^\x21-\x7e]/.test(value))
    throw new PodwrightError('unavailable', `${what}: the response has no valid token`);
  const lifetimeSeconds = Math.max(answer.expires_in ?? DEFAULT_LIFETIME_SECONDS, DEFAULT_LIFETIME_SECONDS);
  return { value, expiresAtMs: startedAtMs + lifetimeSeconds * 1000 - MARGIN_MS };
}

function realmOf({ challenge, credentials, registryUrl }: TokenRequest): URL {
  const realm = URL.parse(challenge.parameters.realm ?? '');
  if (realm === null || !['http:', 'https:'].includes(realm.protocol)) {
    throw new PodwrightError('unavailable', `log in to ${registryUrl}: its challenge names no token server`);
  }
  const secret = [credentials.username, credentials.password, credentials.identityToken].some((value) => value !== '');
  if (secret && registryUrl.startsWith('https:') && realm.protocol === 'http:') {
    throw new PodwrightError(
      'permission_denied',
      `log in to ${registryUrl}: refusing to send credentials to the token server ${realm.origin} without encryption`,
    );
  }
  return realm;
}

type Common = Pick<HttpRequest, 'tls' | 'dialTimeoutMs' | 'signal' | 'headers'>;

function getRequest(realm: URL, options: TokenRequest, common: Common): HttpRequest {
  const { challenge, credentials } = options;
  const url = new URL(realm);
  if (challenge.parameters.service) url.searchParams.set('service', challenge.parameters.service);
  for (const scope of scopes(options)) url.searchParams.append('scope', scope);
  const headers = { ...common.headers };
  if (credentials.username !== '' || credentials.password !== '') {
    url.searchParams.set('account', credentials.username);
    headers.authorization = `Basic ${basicCredentials(credentials)}`;
  }
  return { ...common, method: 'GET', url: url.href, headers };
}

function refreshRequest(realm: URL, options: TokenRequest, common: Common): HttpRequest {
  const form = new URLSearchParams({
    grant_type: 'refresh_token',
    service: options.challenge.parameters.service ?? '',
    client_id: 'podwright',
    scope: scopes(options).join(' '),
    refresh_token: options.credentials.identityToken,
  });
  const headers = { ...common.headers, 'content-type': 'application/x-www-form-urlencoded' };
  return { ...common, method: 'POST', url: realm.href, headers, body: form.toString() };
}

function scopes({ challenge, scope }: TokenRequest): string[] {
  const requested = (challenge.parameters.scope ?? '').split(' ').filter((part) => part !== '');
  return requested.length > 0 ? requested : [scope];
}
