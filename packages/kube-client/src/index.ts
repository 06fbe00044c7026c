export { type ApiStatus, ApiStatusError, isApiStatus } from './api-status-error.ts';
export type { Informer, InformerChange, InformerOptions } from './informer.ts';
export type {
  CallOptions,
  DeleteOptions,
  KubeClient,
  ListOf,
  ObjectPlace,
  PatchType,
  Selection,
  WatchEvent,
  WatchOptions,
} from './kube-client.ts';
export type { KubeMetadata, KubeObject, OwnerReference, Resource } from './kube-object.ts';
export * from './resources.ts';
