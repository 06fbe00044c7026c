import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { PodwrightError } from '@podwright/base';
import { type MeasuredContainer, type MeasuredSandbox, measureEach } from '@podwright/cri';
import {
  type CgroupHierarchy,
  type CgroupStats,
  CpuSamples,
  type InterfaceUse,
  parseInterfaces,
  readCgroupStats,
} from '@podwright/host';
import type { ContainerSummary } from '../engine/engine-types.ts';
import { CONTAINER_TYPE, criMarks, SANDBOX_ID_LABEL, SANDBOX_TYPE, TYPE_LABEL } from '../labels/labels.ts';
import { type ContainerName, parseName } from '../labels/names.ts';
import { type ContainerType, isOurs } from '../labels/ownership.ts';
import type { DockershimServices } from '../services.ts';
import { LayerSizes } from './layer-sizes.ts';
import { type RunningContainer, RunningContainers } from './running-containers.ts';

/** Dependencies of the statistics calls. `cgroups` is the host's cgroup hierarchy. */
export type StatisticsServices = Pick<DockershimServices, 'engine' | 'logger'> & { cgroups: CgroupHierarchy };

/** Relative path from a layer, `ROOT/DRIVER/ID/diff`, to Docker's root directory. */
const LAYERS_ROOT = '../../..';

/** Measures the usage of sandboxes and containers. Only running ones have usage. */
export class Meter {
  readonly #services: StatisticsServices;
  readonly #cpu = new CpuSamples();
  readonly #layers = new LayerSizes();
  readonly #known: Record<ContainerType, RunningContainers>;

  constructor(services: StatisticsServices) {
    const { containers } = services.engine;
    this.#services = services;
    this.#known = {
      [SANDBOX_TYPE]: new RunningContainers(containers),
      [CONTAINER_TYPE]: new RunningContainers(containers),
    };
  }

  /** Returns all running containers of this type (sandbox or container) that were created by a dockershim. */
  async running(type: ContainerType, signal: AbortSignal): Promise<ContainerSummary[]> {
    const filter = { label: [`${TYPE_LABEL}=${type}`], status: ['running'] };
    const found = await this.#services.engine.containers.list(filter, signal);
    const ours = found.filter(({ Names, Labels }) => isOurs(type, { names: Names, labels: Labels }));
    const layers = this.#known[type].keep(new Set(ours.map(({ Id }) => Id)));
    if (type === CONTAINER_TYPE) this.#layers.keep(layers);
    return ours;
  }

  /** Returns the container with this ID or ID prefix, running or not. Throws `not_found`. */
  async one(type: ContainerType, id: string, signal: AbortSignal): Promise<ContainerSummary> {
    const filter = { label: [`${TYPE_LABEL}=${type}`], id: [id] };
    const found = await this.#services.engine.containers.list(filter, signal);
    const ours = found.filter(({ Names, Labels }) => isOurs(type, { names: Names, labels: Labels }));
    if (ours.length === 1) return ours[0]!;
    const kind = type === SANDBOX_TYPE ? 'sandbox' : 'container';
    throw new PodwrightError('not_found', `statistics of ${kind} ${id}: no ${kind} has this id`);
  }

  async ofContainer(summary: ContainerSummary, signal: AbortSignal): Promise<MeasuredContainer> {
    const { Id: id, Labels } = summary;
    const { name, attempt } = nameOf(summary);
    const container = await this.#known[CONTAINER_TYPE].of(id, signal);
    const cgroup = container === undefined ? { readAtMs: Date.now() } : this.#read(container.cgroup);
    const layer = container?.layer === undefined ? undefined : await this.#layers.of(container.layer);
    return {
      attributes: { id, metadata: { name, attempt }, ...criMarks(Labels) },
      use: { cgroup, nanoCores: this.#cpu.nanoCores(id, cgroup), layer },
      mountpoint: container?.layer === undefined ? '' : posix.join(container.layer, LAYERS_ROOT),
    };
  }

  /** Measures a sandbox. `containers` holds the running containers of all sandboxes. */
  async ofSandbox(
    summary: ContainerSummary,
    containers: ContainerSummary[],
    signal: AbortSignal,
  ): Promise<MeasuredSandbox> {
    const { Id: id, Labels } = summary;
    const { podName: name, namespace, uid, attempt } = nameOf(summary);
    const sandbox = await this.#known[SANDBOX_TYPE].of(id, signal);
    const own = containers.filter(({ Labels }) => Labels[SANDBOX_ID_LABEL] === id);
    // a sandbox without a pod cgroup shares Docker's own cgroup with other containers
    const hasOwnCgroup = sandbox !== undefined && sandbox.cgroupParent !== '';
    const cgroup = hasOwnCgroup ? this.#read(posix.dirname(sandbox.cgroup)) : undefined;
    const nanoCores = cgroup && this.#cpu.nanoCores(id, cgroup);
    return {
      attributes: { id, metadata: { name, namespace, uid, attempt }, ...criMarks(Labels) },
      use: { atMs: Date.now(), cgroup, nanoCores, interfaces: await interfacesOf(sandbox) },
      containers: await this.each(own, (one) => this.ofContainer(one, signal)),
    };
  }

  /** Measures each of the containers, omitting those whose measurement fails. */
  each<T>(summaries: ContainerSummary[], measure: (summary: ContainerSummary) => Promise<T>): Promise<T[]> {
    const named = summaries.map((summary) => ({ id: summary.Id, summary }));
    return measureEach(named, this.#services, ({ summary }) => measure(summary));
  }

  #read(path: string): CgroupStats {
    return readCgroupStats(this.#services.cgroups, path);
  }
}

function nameOf({ Names }: ContainerSummary): ContainerName {
  return Names.flatMap((text) => parseName(text) ?? [])[0]!;
}

/** Reads the kernel's counters for the sandbox's network interfaces; empty for a sandbox on the host network. */
async function interfacesOf(sandbox: RunningContainer | undefined): Promise<InterfaceUse[]> {
  if (sandbox === undefined || sandbox.isInHostNetwork) return [];
  const text = await readFile(`/proc/${sandbox.pid}/net/dev`, 'utf8').catch(() => '');
  return parseInterfaces(text).filter(({ name }) => name !== 'lo');
}
