import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { errorMessage, type Logger } from '@podwright/base';
import type { User } from './token-file.ts';

export type Authenticator = (request: IncomingMessage) => Promise<User | undefined>;

export type AuthenticationParts = {
  anonymous: boolean;
  /** Client certificates are asked for, and those of the server's authorities count. */
  clientCertificates: boolean;
  /** Who knows the users of bearer tokens, in the order in which they are asked. */
  tokens: TokenSource[];
  logger: Logger;
};

/** Knows whose some bearer tokens are. */
export type TokenSource = { userOf: (token: string) => Promise<User | undefined> };

/** The user of requests without credentials. */
export const ANONYMOUS: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

/**
 * Finds out who calls: by a client certificate (its CN is the user, its O are groups) or a bearer token. A certificate or token
 * that is wrong is refused also where anonymous calls are allowed, as upstream does.
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

/** A connection may be kept for longer than its certificate is valid, so that is looked at for each request. */
function certificateOf(socket: TLSSocket): CertificateUser {
  const { subject, raw, valid_from: from, valid_to: to } = socket.getPeerCertificate?.() ?? {};
  if (subject === undefined) return { kind: 'none' };
  const isValidNow = Date.parse(from!) <= Date.now() && Date.now() <= Date.parse(to!);
  if (!socket.authorized || !isValidNow) return { kind: 'wrong' };
  const { CN, O } = subject as { CN?: string | string[]; O?: string | string[] };
  const name = [CN ?? []].flat().at(-1);
  if (!name) return { kind: 'wrong' }; // a certificate without a name is nobody's
  const digest = createHash('sha256').update(raw!).digest('hex');
  const extra = { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${digest}`] };
  return { kind: 'user', user: { name, groups: [O ?? []].flat(), extra } };
}

function bearerToken(header: string | undefined): string | undefined {
  return /^bearer +(\S+)$/i.exec(header?.trim() ?? '')?.[1];
}
