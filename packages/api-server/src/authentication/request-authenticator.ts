import type { IncomingHttpHeaders } from 'node:http';
import { unauthorized } from '@podwright/api-machinery';
import type { UserInfo } from '@podwright/kube-kinds';
import { ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED } from '../authorization/known-users.ts';
import {
  type AuthenticationRequest,
  type Authenticator,
  RefusedCredential,
  type TokenType,
  type TokenUser,
} from './authenticator.ts';
import { bearerOf, protocolTokenOf } from './bearer-token.ts';
import { ClientCertificates } from './client-certificate.ts';

export type RequestAuthenticatorParts = {
  /** The supported token types, in the order in which they are tried. */
  tokens: readonly TokenType[];
  /** The API server's own audiences. Request tokens must be valid for at least one of them. */
  audiences: readonly string[];
  now: () => number;
};

/** Authenticates requests by client certificate, or by a bearer token in the `Authorization` header or the WebSocket subprotocols. */
export class RequestAuthenticator implements Authenticator {
  readonly #parts: RequestAuthenticatorParts;
  readonly #certificates: ClientCertificates;

  constructor(parts: RequestAuthenticatorParts) {
    this.#parts = parts;
    this.#certificates = new ClientCertificates(parts.now);
  }

  async authenticate({ tlsSocket, headers }: AuthenticationRequest): Promise<UserInfo | undefined> {
    let isRefused = false;
    const attempts = [
      () => tlsSocket && this.#certificates.userOf(tlsSocket),
      () => this.#userOfBearer(headers),
      () => this.#userOfProtocol(headers),
    ];
    for (const attempt of attempts) {
      try {
        const user = attempt();
        if (user === undefined) continue;
        delete headers.authorization;
        return withAuthenticated(user);
      } catch (error) {
        if (!(error instanceof RefusedCredential)) throw error;
        isRefused = true; // another credential of the request may be valid
      }
    }
    if (isRefused) throw unauthorized();
    return undefined;
  }

  /** Returns the user of a token valid for one of the audiences. Throws `RefusedCredential` if it is not. */
  userOfToken(token: string, audiences: readonly string[]): TokenUser {
    const reasons: string[] = [];
    for (const type of this.#parts.tokens) {
      try {
        const found = type.authenticate(token, audiences);
        if (found !== undefined) return { ...found, user: withAuthenticated(found.user) };
      } catch (error) {
        if (!(error instanceof RefusedCredential)) throw error;
        reasons.push(error.message);
      }
    }
    throw new RefusedCredential(
      reasons.length > 1 ? `[${reasons.join(', ')}]` : (reasons[0] ?? 'invalid bearer token'),
    );
  }

  #userOfBearer(headers: IncomingHttpHeaders): UserInfo | undefined {
    const token = bearerOf(headers);
    if (token === undefined) return undefined;
    return this.userOfToken(token, this.#parts.audiences).user;
  }

  #userOfProtocol(headers: IncomingHttpHeaders): UserInfo | undefined {
    const found = protocolTokenOf(headers);
    if (found === undefined) return undefined;
    const { user } = this.userOfToken(found.token, this.#parts.audiences);
    headers['sec-websocket-protocol'] = found.otherProtocols.join(',');
    return user;
  }
}

function withAuthenticated(user: UserInfo): UserInfo {
  const { username, groups } = user;
  const isComplete = username === ANONYMOUS || groups.includes(AUTHENTICATED) || groups.includes(UNAUTHENTICATED);
  return isComplete ? user : { ...user, groups: [...groups, AUTHENTICATED] };
}
