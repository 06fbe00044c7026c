export { apiMessage } from './api-message.ts';
export { type ApiStatus, ApiStatusError, isApiStatus } from './api-status-error.ts';
export type { Authorization } from './client/caller.ts';
export {
  bearerToken,
  type ClusterAccess,
  createKubeClient,
  type KubeClientOptions,
} from './client/create-kube-client.ts';
export { type RateLimit, withRateLimit } from './client/rate-limit.ts';
export { ApiEventSink, type ApiEventSinkOptions } from './events/api-event-sink.ts';
export type { EventSource } from './events/event-correlator.ts';
export type { Informer, InformerChange, InformerOptions } from './informer.ts';
export { Informers } from './informing/informers.ts';
export { compareVersions } from './informing/resource-version.ts';
export { startInformer } from './informing/start-informer.ts';
export type {
  CallOptions,
  DeleteOptions,
  KubeClient,
  ListOf,
  ObjectKey,
  PatchType,
  Selection,
  WatchEvent,
  WatchOptions,
} from './kube-client.ts';
export { type Kubeconfig, type ReadKubeconfigOptions, readKubeconfig } from './kubeconfig/read-kubeconfig.ts';
export {
  CERTIFICATE_SIGNING_REQUESTS,
  CONFIG_MAPS,
  CSI_DRIVERS,
  CSI_NODES,
  ENDPOINT_SLICES,
  EVENTS,
  LEASES,
  NAMESPACES,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  RESOURCE_CLAIMS,
  RESOURCE_SLICES,
  RUNTIME_CLASSES,
  SECRETS,
  SERVICE_ACCOUNTS,
  SERVICES,
  STORAGE_CLASSES,
  SUBJECT_ACCESS_REVIEWS,
  TOKEN_REVIEWS,
  VOLUME_ATTACHMENTS,
} from './resources.ts';
export type { TlsOptions } from './transport/http-exchange.ts';
