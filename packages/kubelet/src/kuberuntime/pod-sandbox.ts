import { mkdir } from 'node:fs/promises';
import { LOG_DIRECTORY, PodwrightError } from '@podwright/base';
import type { PodSandboxConfig } from '@podwright/cri';
import { withRpcErrors } from '@podwright/grpc';
import { eventSubject, type Pod } from '@podwright/kube-api';
import type { KuberuntimeDependencies } from './dependencies.ts';
import { podDnsConfig } from './dns-config.ts';
import { namespaceOptions } from './namespace-options.ts';
import { podSandboxConfig } from './pod-sandbox-config.ts';
import { podUsers } from './pod-users.ts';

/** Dependencies for creating a sandbox. */
export type SandboxDependencies = SandboxConfigDependencies & Pick<KuberuntimeDependencies, 'cri' | 'objects'>;

type SandboxConfigDependencies = Pick<
  KuberuntimeDependencies,
  | 'cgroupParent'
  | 'clusterDomain'
  | 'dns'
  | 'events'
  | 'features'
  | 'kubeletId'
  | 'node'
  | 'objects'
  | 'podLogsDir'
  | 'userNamespaces'
>;

/** Builds the sandbox configuration for this attempt. Rejects if the pod's spec makes that impossible. */
export async function makeSandboxConfig(
  deps: SandboxConfigDependencies,
  { pod, attempt }: { pod: Pod; attempt: number },
  signal?: AbortSignal,
): Promise<PodSandboxConfig> {
  const { config: dns, warnings } = podDnsConfig(pod, await deps.dns());
  for (const { reason, message } of warnings) deps.events.event(eventSubject(pod), 'Warning', reason, message);
  const users = await podUsers(deps, { pod, handler: () => runtimeHandler(deps, pod) }, signal);
  return podSandboxConfig({
    pod,
    attempt,
    dns,
    podLogsDir: deps.podLogsDir,
    cgroupParent: deps.cgroupParent(pod),
    clusterDomain: deps.clusterDomain,
    kubeletId: deps.kubeletId,
    namespaces: namespaceOptions(pod, users),
    enforcement: deps.node,
  });
}

/**
 * Returns the runtime handler of the pod's RuntimeClass; '' for the default handler. Throws `not_found` if the RuntimeClass does not exist.
 */
export function runtimeHandler(deps: Pick<KuberuntimeDependencies, 'objects'>, pod: Pod): string {
  const name = pod.spec.runtimeClassName ?? '';
  if (name === '') return '';
  const runtimeClass = deps.objects.of(pod).get('RuntimeClass', '', name);
  if (runtimeClass === undefined) {
    throw new PodwrightError('not_found', `find the RuntimeClass "${name}": there is none of that name on this node`);
  }
  return runtimeClass.handler;
}

/** Creates the pod's log directory and its sandbox. Returns the sandbox ID. */
export async function createSandbox(
  deps: Pick<KuberuntimeDependencies, 'cri' | 'objects'>,
  { pod, config }: { pod: Pod; config: PodSandboxConfig },
  signal: AbortSignal,
): Promise<string> {
  await mkdir(config.logDirectory, { recursive: true, mode: LOG_DIRECTORY });
  const request = { config, runtimeHandler: runtimeHandler(deps, pod) };
  const { podSandboxId } = await withRpcErrors(deps.cri.runtime.runPodSandbox(request, { signal }));
  return podSandboxId;
}
