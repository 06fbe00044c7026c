/** The Kubernetes objects supported by Podwright, with the names used in the API's JSON. */
export * from './container.ts';
export * from './event.ts';
export * from './local-object.ts';
export * from './object-meta.ts';
export * from './persistent-volume.ts';
export * from './pod.ts';
export * from './pod-status.ts';
export * from './probe.ts';
export * from './restart-policy.ts';
export * from './scheduling.ts';
export * from './security-context.ts';
export * from './service.ts';
export * from './volume.ts';
