import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { UpgradingClient } from '@podwright/streaming';

/** Handles the requests of a server. */
export interface HttpListener {
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Whether this upgrade request is passed to `upgrade`; otherwise `handle` gets it like a plain request. */
  upgrades(request: IncomingMessage): boolean;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** Serves the client of the stream at a runtime's URL in this process; returns false if that runtime runs in another process. */
export type ServeStream = (client: UpgradingClient, url: string) => boolean;
