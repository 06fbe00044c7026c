import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Who answers the requests of a server. */
export interface HttpListener {
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Whether a request that asks for another protocol gets it here; others are answered as if they had not asked. */
  upgrades(request: IncomingMessage): boolean;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}
