import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { UpgradingClient } from '@podwright/streaming';

/** Handles the requests that an HTTP server receives. */
export interface HttpListener {
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Whether to pass this upgrade request to `upgrade`. If false, it is passed to `handle` as a plain request. */
  upgrades(request: IncomingMessage): boolean;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/**
 * Connects the client to the stream at a container runtime's streaming URL if that container runtime is part of this process. Returns false
 * if it is not.
 */
export type ServeStream = (client: UpgradingClient, url: string) => boolean;
