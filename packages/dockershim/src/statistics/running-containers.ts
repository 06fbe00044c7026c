import { readFile } from 'node:fs/promises';
import { isInCgroup } from '@podwright/system';
import type { EngineContainers } from '../engine/engine-containers.ts';
import { unlessGone } from '../engine/unless-gone.ts';
import { cgroupPathIn, containerCgroup } from './cgroup-path.ts';

/** What stays the same of a container while it runs. */
export type RunningContainer = {
  /** Its first process, of the host. */
  pid: number;
  cgroup: string;
  /** The cgroup that it was told to be in, as the Engine has it; none for Docker's own. */
  cgroupParent: string;
  isInHostNetwork: boolean;
  /** The directory of what it writes; unknown with some storage drivers. */
  layer: string | undefined;
};

/** Knows containers that run: each is inspected once for as long as its first process is there. */
export class RunningContainers {
  readonly #containers: Pick<EngineContainers, 'inspect'>;
  readonly #known = new Map<string, RunningContainer>();

  constructor(containers: Pick<EngineContainers, 'inspect'>) {
    this.#containers = containers;
  }

  /** Nothing for a container that does not run, or whose processes are not on this host. */
  async of(id: string, signal?: AbortSignal): Promise<RunningContainer | undefined> {
    const known = this.#known.get(id);
    if (known !== undefined && isInCgroup(known.pid, known.cgroup)) return known;
    this.#known.delete(id);
    const found = await this.#look(id, signal);
    if (found !== undefined) this.#known.set(id, found);
    return found;
  }

  /** Forgets all but these, and gives the layers of those that it knows. */
  keep(ids: Set<string>): Set<string> {
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id);
    return new Set([...this.#known.values()].flatMap(({ layer }) => layer ?? []));
  }

  async #look(id: string, signal?: AbortSignal): Promise<RunningContainer | undefined> {
    const container = await unlessGone(this.#containers.inspect(id, signal));
    if (!container?.State.Running) return undefined;
    const { Pid: pid } = container.State;
    const path = cgroupPathIn(await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => ''));
    const cgroup = path && containerCgroup(path, container.Id);
    if (cgroup === undefined || cgroup === '') return undefined;
    const { CgroupParent: cgroupParent, NetworkMode } = container.HostConfig;
    const layer = container.GraphDriver?.Data.UpperDir || undefined;
    return { pid, cgroup, cgroupParent, isInHostNetwork: NetworkMode === 'host', layer };
  }
}
