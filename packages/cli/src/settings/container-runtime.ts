import type { ConfigFlags } from './config-flags.ts';
import type { ConfigProblem } from './config-problems.ts';

/**
 * A node's container runtime, with the values of upstream's `--container-runtime`: `docker` is a Docker Engine used through a dockershim in
 * the node's process; `remote` is a CRI runtime, which for `podwright node` is configured in the `[runtime]` table.
 */
export type ContainerRuntime = 'docker' | 'remote';

type Table = Record<string, unknown>;

/** Removes `runtime = "docker"`, which a configuration file can contain in place of the `[runtime]` table. */
export function takeContainerRuntime(content: Table): { content: Table; containerRuntime: ContainerRuntime } {
  const { runtime, ...others } = content;
  if (runtime !== 'docker') return { content, containerRuntime: 'remote' };
  return { content: others, containerRuntime: 'docker' };
}

/** Reports settings that have no effect with a Docker Engine. */
export function dockerProblems(content: Table, flags: ConfigFlags): ConfigProblem[] {
  const network = content.network as Table | undefined;
  const message = 'applies only to the built-in runtime, but this node has runtime = "docker"; remove it';
  const given: [path: string[], isGiven: boolean][] = [
    [['network', 'mode'], network?.mode !== undefined],
    [['network', 'bridge'], network?.bridge !== undefined || flags.bridge !== undefined],
    [['network', 'mtu'], network?.mtu !== undefined],
    [['network', 'subnet'], network?.subnet !== undefined || flags.subnet !== undefined],
    [['runtime', 'ready_sandboxes'], flags.readySandboxes !== undefined],
  ];
  return given.filter(([, isGiven]) => isGiven).map(([path]) => ({ path, message }));
}
