import type { DescService } from '@bufbuild/protobuf';
import type { ServiceDefinitionOptions } from './service-definition.ts';

/** The versions of the CRI. Both speak the messages of v1, which never changed a number. */
export type CriApiVersion = 'v1' | 'v1alpha2';

/** What v1 got after v1alpha2 had been frozen; everything else is in both. */
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

/** How a server names a CRI service in a version, and which of its methods the version has. */
export function servedIn(service: Pick<DescService, 'methods'>, version: CriApiVersion): ServiceDefinitionOptions {
  const names = service.methods.map((method) => method.localName);
  const methods = new Set(version === 'v1' ? names : names.filter((name) => !ONLY_IN_V1.has(name)));
  return { packageName: packageOf(version), methods };
}
