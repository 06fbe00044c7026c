/** ttrpc (containerd/ttrpc), that is, gRPC's messages without HTTP/2: client and server for any service. */
export { TtrpcConnection } from './client.ts';
export { TtrpcServer } from './server.ts';
export type { CallOptions, TtrpcClient, TtrpcHandlers, TypedService } from './service.ts';
