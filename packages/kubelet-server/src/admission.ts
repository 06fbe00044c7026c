import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { errorMessage, type Logger } from '@podwright/base';
import type { Authorizer } from './access-reviews.ts';
import { type Refusal, refusal, sendText } from './api-route.ts';
import type { Authenticator } from './authentication.ts';
import type { HttpListener } from './http/http-listener.ts';
import { refuseSocket } from './refuse-socket.ts';
import { decodedPath } from './request-target.ts';
import type { User } from './token-file.ts';

export type Admission = {
  userOf: Authenticator;
  /** Authorizes requests. If `undefined`, every authenticated user may make any request. */
  refusalOf: Authorizer | undefined;
  /**
   * Called for each allowed request. Can still refuse the request by returning a response, for example because there are too many
   * connections.
   */
  onAllowed: (socket: Socket, user: User) => Refusal | undefined;
  logger: Logger;
};

/** Wraps `api` so that it receives only requests that have been authenticated and authorized. */
export function withAdmission(api: HttpListener, { userOf, refusalOf, onAllowed, logger }: Admission): HttpListener {
  const findRefusal = async (request: IncomingMessage): Promise<Refusal | undefined> => {
    const user = await userOf(request);
    if (user === undefined) return refusal(401, 'Unauthorized');
    const found = await refusalOf?.(user, { method: request.method, path: decodedPath(request) });
    return found ?? onAllowed(request.socket, user);
  };
  const refused = (request: IncomingMessage) =>
    findRefusal(request).catch((error: unknown) => {
      logger.error({ error: errorMessage(error) }, 'failed to authenticate or authorize a request');
      return refusal(500, 'Internal Server Error');
    });
  const failed = (error: unknown, end: () => void) => {
    logger.error({ error: errorMessage(error) }, 'failed to handle a request of the API');
    end();
  };
  return {
    upgrades: (request) => api.upgrades(request),
    handle: (request, response) => {
      refused(request)
        .then((found) => {
          if (request.socket.destroyed) return; // the client has disconnected in the meantime
          if (found) refuse(response, found);
          else api.handle(request, response);
        })
        .catch((error: unknown) => failed(error, () => response.destroy()));
    },
    upgrade: (request, socket, head) => {
      socket.on('error', () => socket.destroy());
      refused(request)
        .then((found) => {
          if (socket.destroyed) return;
          if (found) refuseSocket(socket, found);
          else api.upgrade(request, socket, head);
        })
        .catch((error: unknown) => failed(error, () => socket.destroy()));
    },
  };
}

function refuse(response: ServerResponse, { status, message }: Refusal): void {
  response.setHeader('connection', 'close');
  sendText(response, status, message);
}
