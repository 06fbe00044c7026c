import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { UpgradingClient } from '@podwright/streaming';

/** Handles a server's requests. */
export interface HttpListener {
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Whether to pass an upgrade request to `upgrade`. If false, it is passed to `handle` as a plain request. */
  upgrades(request: IncomingMessage): boolean;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/**
 * Connects the client to the stream at a container runtime's streaming URL if that runtime runs in this process. Returns false if it does
 * not.
 */
export type ServeStream = (client: UpgradingClient, url: string) => boolean;
