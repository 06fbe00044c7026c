import type { DescService } from '@bufbuild/protobuf';
import type { ServiceDefinitionOptions } from '@podwright/grpc';

/** CRI versions. Both use the v1 messages: v1 never changed a field number of v1alpha2. */
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

/** The protobuf package of a version's services. */
export function packageOf(version: CriApiVersion): string {
  return `runtime.${version}`;
}

/** Options that define a CRI service in a version: its package name and the methods that the version has. */
export function servedIn(service: Pick<DescService, 'methods'>, version: CriApiVersion): ServiceDefinitionOptions {
  const names = service.methods.map((method) => method.localName);
  const methods = new Set(version === 'v1' ? names : names.filter((name) => !ONLY_IN_V1.has(name)));
  return { packageName: packageOf(version), methods };
}
