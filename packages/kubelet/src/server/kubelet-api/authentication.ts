import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { errorMessage, type Logger } from '@podwright/base';
import type { TokenFile, User } from './token-file.ts';

export type Authenticator = (request: IncomingMessage) => Promise<User | undefined>;

export type AuthenticationParts = {
  anonymous: boolean;
  /** Client certificates are asked for, and those of the server's authorities count. */
  clientCertificates: boolean;
  tokens: TokenFile | undefined;
  logger: Logger;
};

const ANONYMOUS: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

/**
 * Finds out who calls: by a client certificate (its CN is the user, its O are groups) or a bearer token. A certificate or token
 * that is wrong is refused also where anonymous calls are allowed, as upstream does.
 */
export function authenticator({ anonymous, clientCertificates, tokens, logger }: AuthenticationParts): Authenticator {
  return async (request) => {
    const certificate = clientCertificates ? certificateOf(request.socket as TLSSocket) : { kind: 'none' as const };
    if (certificate.kind === 'user') return certificate.user;
    const token = bearerToken(request.headers.authorization);
    if (token !== undefined && tokens !== undefined) {
      const user = await tokens.userOf(token).catch((error: unknown) => {
        logger.error({ error: errorMessage(error) }, 'Unable to authenticate the request due to an error');
        return undefined;
      });
      return user;
    }
    if (certificate.kind === 'wrong') return undefined;
    return anonymous ? ANONYMOUS : undefined;
  };
}

type CertificateUser = { kind: 'none' } | { kind: 'wrong' } | { kind: 'user'; user: User };

function certificateOf(socket: TLSSocket): CertificateUser {
  const subject = socket.getPeerCertificate?.()?.subject;
  if (subject === undefined) return { kind: 'none' };
  if (!socket.authorized) return { kind: 'wrong' };
  const { CN, O } = subject as { CN?: string | string[]; O?: string | string[] };
  const name = [CN ?? []].flat().at(-1);
  // a certificate without a name is nobody's
  return name ? { kind: 'user', user: { name, groups: [O ?? []].flat() } } : { kind: 'wrong' };
}

function bearerToken(header: string | undefined): string | undefined {
  return /^bearer +(\S+)$/i.exec(header?.trim() ?? '')?.[1];
}
