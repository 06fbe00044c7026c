export { type ApiStatus, ApiStatusError, isApiStatus } from './api-status-error.ts';
export type { Authorization } from './client/caller.ts';
export {
  bearerToken,
  type ClusterAccess,
  createKubeClient,
  type KubeClientOptions,
} from './client/create-kube-client.ts';
export { type RateLimit, withRateLimit } from './client/rate-limit.ts';
export type { Informer, InformerChange, InformerOptions } from './informer.ts';
export { compareVersions } from './informing/resource-version.ts';
export { startInformer } from './informing/start-informer.ts';
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
export { type Kubeconfig, type ReadKubeconfigOptions, readKubeconfig } from './kubeconfig/read-kubeconfig.ts';
export * from './resources.ts';
export type { TlsOptions } from './transport/http-exchange.ts';
