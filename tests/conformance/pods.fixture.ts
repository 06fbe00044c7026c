import { join } from 'node:path';
import { waitFor } from '@podwright/base';
import {
  type ContainerConfig,
  type ContainerConfigSchema,
  ContainerState,
  type LinuxContainerConfigSchema,
  type MessageInitShape,
  NamespaceMode,
  type PodSandboxConfigSchema,
} from '@podwright/cri';
import type { RuntimeToCompare } from './runtimes.fixture.ts';

const linux = { securityContext: { namespaceOptions: { pid: NamespaceMode.CONTAINER } } };

/** Returns a pod config as a kubelet would send it. */
export function podConfig({ logs }: Pick<RuntimeToCompare, 'logs'>, name: string, labels: Record<string, string> = {}) {
  return {
    metadata: { name, uid: `uid-${name}`, namespace: 'default', attempt: 0 },
    hostname: name,
    logDirectory: join(logs, name),
    labels: { pod: name, ...labels },
    linux,
  } satisfies MessageInitShape<typeof PodSandboxConfigSchema>;
}

export function containerConfig({ image }: Pick<RuntimeToCompare, 'image'>, name: string, script: string) {
  return {
    metadata: { name, attempt: 0 },
    image: { image },
    command: ['sh', '-c', script],
    logPath: `${name}.log`,
    labels: { container: name },
    linux,
  } satisfies MessageInitShape<typeof ContainerConfigSchema>;
}

/** A sandbox with its config, which CreateContainer requires as well. */
export type Pod = { podSandboxId: string; config: PodConfig };
type PodConfig = Omit<ReturnType<typeof podConfig>, 'linux'> & MessageInitShape<typeof PodSandboxConfigSchema>;

export async function runPod(runtime: RuntimeToCompare, name: string, labels?: Record<string, string>): Promise<Pod> {
  const config = podConfig(runtime, name, labels);
  const { podSandboxId } = await runtime.cri.runtime.runPodSandbox({ config });
  return { podSandboxId, config };
}

/** A container that runs a shell script; the other fields override its config. */
export type ContainerInPod = { name: string; script: string } & Partial<
  Pick<ContainerConfig, 'stdin' | 'tty' | 'logPath' | 'command' | 'annotations'>
> & {
    metadata?: undefined;
    image?: { image: string };
    linux?: MessageInitShape<typeof LinuxContainerConfigSchema>;
  };

/** Creates a container in the pod and returns its ID; `more` overrides its config. */
export async function createIn(
  runtime: RuntimeToCompare,
  { podSandboxId, config: sandboxConfig }: Pod,
  { name, script, ...more }: ContainerInPod,
): Promise<string> {
  const config = { ...containerConfig(runtime, name, script), ...more };
  return (await runtime.cri.runtime.createContainer({ podSandboxId, config, sandboxConfig })).containerId;
}

/** Like `createIn`, but also starts the container. */
export async function startIn(...args: Parameters<typeof createIn>): Promise<string> {
  const containerId = await createIn(...args);
  await args[0].cri.runtime.startContainer({ containerId });
  return containerId;
}

export async function untilExited({ cri }: RuntimeToCompare, containerId: string, patienceMs = 60_000): Promise<void> {
  const ended = async () => {
    const { status } = await cri.runtime.containerStatus({ containerId });
    return status?.state === ContainerState.CONTAINER_EXITED ? true : undefined;
  };
  await waitFor(ended, { intervalMs: 50, signal: AbortSignal.timeout(patienceMs) });
}
