import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { UpgradingClient } from '@podwright/streaming';

/** Who answers the requests of a server. */
export interface HttpListener {
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Whether a request that asks for another protocol gets it here; others are answered as if they had not asked. */
  upgrades(request: IncomingMessage): boolean;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** Takes over a client of the stream at a runtime's URL; false if that runtime is not of this process. */
export type ServeStream = (client: UpgradingClient, url: string) => boolean;
