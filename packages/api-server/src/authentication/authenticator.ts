import type { IncomingHttpHeaders } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { UserInfo } from '@podwright/kube-kinds';

/** The parts of a TLS connection that authentication reads. */
export type TlsPeer = Pick<TLSSocket, 'authorized' | 'getPeerX509Certificate'>;

export type AuthenticationRequest = {
  /** The server's socket, whose TLS layer verified the client's certificate against the cluster's CA. */
  tlsSocket?: TlsPeer;
  /** The request's headers. If a credential is accepted, all are removed from them, so that no proxy forwards them. */
  headers: IncomingHttpHeaders;
};

/**
 * Determines the user of a request. Resolves with undefined for a request without credentials, and rejects with `unauthorized()` for
 * invalid ones. There are no anonymous users.
 */
export interface Authenticator {
  authenticate(request: AuthenticationRequest): Promise<UserInfo | undefined>;
}

/** The user of a token, and those of the requested audiences for which the token is valid. */
export type TokenUser = { user: UserInfo; audiences: string[] };

/** Recognizes tokens of one type. Returns undefined for any other text, and throws `RefusedCredential` for an invalid token of the type. */
export interface TokenType {
  authenticate(token: string, audiences: readonly string[]): TokenUser | undefined;
}

/** Why a certificate or token is refused. The message never contains a part of a token. */
export class RefusedCredential extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RefusedCredential';
  }
}

/** The extra field with an identifier of the credential, which is not secret. */
export const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';
