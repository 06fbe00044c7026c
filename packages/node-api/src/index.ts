export { AppliedImport } from './applied-import.ts';
export type { KubernetesApi } from './kubernetes-api.ts';
export type {
  ApplyOptions,
  ApplyResult,
  EventWatchEvent,
  ImageTransfer,
  NodeInfo,
  PodWatchEvent,
  RestartAnswer,
  StopOptions,
} from './local-api.ts';
export { LOCAL_API_VERSION } from './local-api.ts';
export { type LocalApiOptions, serveLocalApi } from './serve-local-api.ts';
