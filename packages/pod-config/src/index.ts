export { isOneManifest } from './manifest-place.ts';
export { existingPod, PodConfig } from './pod-config.ts';
export { type PodSourceListener, type PodSources, startPodSources } from './pod-sources.ts';
export { identifyPod } from './static-pod.ts';
