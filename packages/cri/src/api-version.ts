import type { DescService } from '@bufbuild/protobuf';
import type { ServiceDefinitionOptions } from '@podwright/grpc';

/** A CRI version. Both use the v1 messages, because v1 kept every field number of v1alpha2. */
export type CriApiVersion = 'v1' | 'v1alpha2';

/** Methods added to v1 after v1alpha2 was frozen. */
const ONLY_IN_V1: ReadonlySet<string> = new Set([
  'checkpointContainer',
  'getContainerEvents',
  'listMetricDescriptors',
  'listPodSandboxMetrics',
  'runtimeConfig',
  'updatePodSandboxResources',
  'streamPodSandboxes',
  'streamContainers',
  'streamContainerStats',
  'streamPodSandboxStats',
  'streamPodSandboxMetrics',
  'streamImages',
]);

/** Returns the protobuf package of a version's services. */
export function packageOf(version: CriApiVersion): string {
  return `runtime.${version}`;
}

/** Returns the definition options of a CRI service for one API version: its package name, and the methods that exist in that version. */
export function servedIn(service: Pick<DescService, 'methods'>, version: CriApiVersion): ServiceDefinitionOptions {
  const names = service.methods.map((method) => method.localName);
  const methods = new Set(version === 'v1' ? names : names.filter((name) => !ONLY_IN_V1.has(name)));
  return { packageName: packageOf(version), methods };
}
