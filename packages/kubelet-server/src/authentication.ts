import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { errorMessage, type Logger } from '@podwright/base';
import type { User } from './token-file.ts';

export type Authenticator = (request: IncomingMessage) => Promise<User | undefined>;

export type AuthenticationParts = {
  anonymous: boolean;
  /** Whether the server requests client certificates and accepts those signed by its client CAs. */
  clientCertificates: boolean;
  /** Sources that map bearer tokens to users. The first source that recognizes a token decides. */
  tokens: TokenSource[];
  logger: Logger;
};

/** Maps bearer tokens to users. Resolves to `undefined` if the token is unknown. */
export type TokenSource = { userOf: (token: string) => Promise<User | undefined> };

/** The user for requests without credentials. */
export const ANONYMOUS: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

/**
 * Authenticates a request by its client certificate (CN is the user, O the groups) or, if it has none, by its bearer token. As in upstream,
 * a request that has only invalid credentials is rejected even if anonymous requests are allowed.
 */
export function authenticator({ anonymous, clientCertificates, tokens, logger }: AuthenticationParts): Authenticator {
  return async (request) => {
    const certificate = clientCertificates ? certificateOf(request.socket as TLSSocket) : { kind: 'none' as const };
    if (certificate.kind === 'user') return authenticated(certificate.user);
    const token = bearerToken(request.headers.authorization);
    if (token !== undefined && tokens.length > 0) return userOfToken(token, tokens, logger);
    if (certificate.kind === 'wrong') return undefined;
    return anonymous ? ANONYMOUS : undefined;
  };
}

async function userOfToken(token: string, sources: TokenSource[], logger: Logger): Promise<User | undefined> {
  for (const source of sources) {
    const user = await source.userOf(token).catch((error: unknown) => {
      logger.error({ error: errorMessage(error) }, 'Unable to authenticate the request due to an error');
      return undefined;
    });
    if (user !== undefined) return authenticated(user);
  }
  return undefined;
}

const AUTHENTICATED = 'system:authenticated';

const authenticated = (user: User): User =>
  user.groups.includes(AUTHENTICATED) ? user : { ...user, groups: [...user.groups, AUTHENTICATED] };

type CertificateUser = { kind: 'none' } | { kind: 'wrong' } | { kind: 'user'; user: User };

/**
 * Returns the user in a connection's client certificate. The validity period is checked on every request, because a connection may outlive
 * it.
 */
function certificateOf(socket: TLSSocket): CertificateUser {
  const { subject, raw, valid_from: from, valid_to: to } = socket.getPeerCertificate?.() ?? {};
  if (subject === undefined) return { kind: 'none' };
  const isValidNow = Date.parse(from!) <= Date.now() && Date.now() <= Date.parse(to!);
  if (!socket.authorized || !isValidNow) return { kind: 'wrong' };
  const { CN, O } = subject as { CN?: string | string[]; O?: string | string[] };
  const name = [CN ?? []].flat().at(-1);
  if (!name) return { kind: 'wrong' }; // a certificate without a CN names no user
  const digest = createHash('sha256').update(raw!).digest('hex');
  const extra = { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${digest}`] };
  return { kind: 'user', user: { name, groups: [O ?? []].flat(), extra } };
}

function bearerToken(header: string | undefined): string | undefined {
  return /^bearer +(\S+)$/i.exec(header?.trim() ?? '')?.[1];
}
