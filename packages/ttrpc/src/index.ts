/** ttrpc, gRPC's messages without HTTP/2 (containerd/ttrpc), for any service: calling and serving side. */
export { TtrpcConnection } from './client.ts';
export { TtrpcServer } from './server.ts';
export type { CallOptions, TtrpcClient, TtrpcHandlers, TypedService } from './service.ts';
