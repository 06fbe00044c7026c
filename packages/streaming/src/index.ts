export { type CommandIo, runRemoteCommand } from './client/remote-command.ts';
export { connectSpdy, type UpgradeTarget } from './client/upgrade.ts';
export { proxyUpgrade } from './proxy-upgrade.ts';
export type { RemoteProcess, StreamChoice, TerminalSize } from './remote-process.ts';
export type { PortDialer } from './server/port-forward.ts';
export { type StreamingRequest, StreamingServer, type StreamingServerOptions } from './server/streaming-server.ts';
export { SpdyConnection, type SpdyConnectionOptions, type SpdyStream } from './spdy/connection.ts';
