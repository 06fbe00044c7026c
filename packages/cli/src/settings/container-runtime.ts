import type { ConfigFlags } from './config-flags.ts';
import type { ConfigProblem } from './config-problems.ts';

/**
 * What runs a node's containers: a Docker Engine through a dockershim in the node's process, or a runtime with a CRI of its own, which
 * for a node the table `[runtime]` sets up. The words are those of upstream's flag.
 */
export type ContainerRuntime = 'docker' | 'remote';

type Table = Record<string, unknown>;

/** Takes `runtime = "docker"` out of what a file says, where it stands in the place of the table. */
export function takeContainerRuntime(content: Table): { content: Table; containerRuntime: ContainerRuntime } {
  const { runtime, ...others } = content;
  if (runtime !== 'docker') return { content, containerRuntime: 'remote' };
  return { content: others, containerRuntime: 'docker' };
}

/** Settings of a runtime of our own that nothing would come of on a Docker Engine. */
export function dockerProblems(content: Table, flags: ConfigFlags): ConfigProblem[] {
  const network = content.network as Table | undefined;
  const message = 'is for our own runtime, and this node has runtime = "docker"; leave it out';
  const given: [path: string[], isGiven: boolean][] = [
    [['network', 'mode'], network?.mode !== undefined],
    [['network', 'bridge'], network?.bridge !== undefined || flags.bridge !== undefined],
    [['network', 'subnet'], network?.subnet !== undefined || flags.subnet !== undefined],
    [['runtime', 'ready_sandboxes'], flags.readySandboxes !== undefined],
  ];
  return given.filter(([, isGiven]) => isGiven).map(([path]) => ({ path, message }));
}
