import { readFile } from 'node:fs/promises';
import { isInCgroup } from '@podwright/system';
import type { EngineContainers } from '../engine/engine-containers.ts';
import { unlessNotFound } from '../engine/unless-not-found.ts';
import { cgroupPathIn, containerCgroup } from './cgroup-path.ts';

/** Properties of a container that do not change while it is running. */
export type RunningContainer = {
  /** Host PID of the container's first process. */
  pid: number;
  cgroup: string;
  /** The Engine's `CgroupParent`; '' for Docker's default. */
  cgroupParent: string;
  isInHostNetwork: boolean;
  /** The directory of the container's writable layer; `undefined` for some storage drivers. */
  layer: string | undefined;
};

/** Caches the properties of running containers. A container is inspected only once during the lifetime of its first process. */
export class RunningContainers {
  readonly #containers: Pick<EngineContainers, 'inspect'>;
  readonly #known = new Map<string, RunningContainer>();

  constructor(containers: Pick<EngineContainers, 'inspect'>) {
    this.#containers = containers;
  }

  /** Returns the process, cgroups and layer of a running container; `undefined` if it is not running or runs in a virtual machine. */
  async of(id: string, signal?: AbortSignal): Promise<RunningContainer | undefined> {
    const known = this.#known.get(id);
    if (known !== undefined && isInCgroup(known.pid, known.cgroup)) return known;
    this.#known.delete(id);
    const found = await this.#look(id, signal);
    if (found !== undefined) this.#known.set(id, found);
    return found;
  }

  /** Drops all cached containers except these, and returns the layers of the remaining ones. */
  keep(ids: Set<string>): Set<string> {
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id);
    return new Set([...this.#known.values()].flatMap(({ layer }) => layer ?? []));
  }

  async #look(id: string, signal?: AbortSignal): Promise<RunningContainer | undefined> {
    const container = await unlessNotFound(this.#containers.inspect(id, signal));
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
