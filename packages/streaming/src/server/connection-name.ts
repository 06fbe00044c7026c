import type { Socket } from 'node:net';

/** Identifies a connection: no two open connections to a server have the same client address and port. */
export const connectionName = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
