import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import type { RecordTable } from '@podwright/metadata';
import { type ContainerAdjustment, unsupportedSettings } from '@podwright/nri';
import type { OciLinuxResources, OciSpec, OpenFilesLimit, SpecHost, SpecInput, SpecResources } from '@podwright/oci';
import {
  applyCdiEdits,
  buildSpec,
  computeArgs,
  computeEnvironment,
  computeOomScoreAdj,
  computeResources,
  computeRlimits,
  computeWorkingDirectory,
  hasHome,
  type ResolvedEdits,
  resolveCdiDevices,
  withDefaultHome,
  withResources,
} from '@podwright/oci';
import { readMounts, type System } from '@podwright/system';
import { relabel } from '../host/selinux.ts';
import type { ContainerRecord, ContainerResources } from '../records/container-record.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { SandboxEnvironment } from '../sandbox/sandbox-controller.ts';
import type { SandboxControllers } from '../sandbox/sandbox-controllers.ts';
import type { ContainerFiles } from './container-files.ts';
import { listHostDevices, resolveDevices } from './resolve-devices.ts';
import {
  imageVolumes,
  type MountSources,
  resolveDestinations,
  resolveMounts,
  withMountsBelow,
  withSourceRestrictions,
} from './resolve-mounts.ts';
import { resolveNamespaces } from './resolve-namespaces.ts';
import { type Confinement, resolveSecurity } from './resolve-security.ts';
import { lacksAccount } from './resolve-user.ts';
import { scopeProperties } from './scope-properties.ts';

/** A file that exists if the resctrl file system, used to configure Resource Director Technology (RDT), is mounted. */
const RESCTRL = '/sys/fs/resctrl/schemata';
/** Runtime spec version that every OCI runtime implements. */
const OLDEST_OCI_VERSION = '1.0.2';

export type ContainerSpecsDependencies = {
  system: System;
  files: ContainerFiles;
  controllers: SandboxControllers;
  /** Container records, for looking up the target container whose PID namespace a container joins. */
  containers: RecordTable<ContainerRecord>;
  cgroupsPath: (sandbox: SandboxRecord, taskId: string) => string;
  cdiDirectories: string[];
  confinement: Confinement;
  /** Host features that affect the OCI spec. */
  host: SpecHost;
  openFiles: OpenFilesLimit | undefined;
  /** Whether systemd accepts `OOMPolicy` for scopes. */
  scopeOomPolicy: boolean;
  /** The latest version of the runtime spec implemented by each runtime handler's OCI runtime. */
  ociVersions: ReadonlyMap<string, string>;
};

/** All resolved inputs of a container's OCI spec. */
export type SpecSources = { input: SpecInput; cdi: ResolvedEdits };

/** Builds a container's OCI spec from its resolved inputs. Pure. */
export const buildContainerSpec = ({ input, cdi }: SpecSources): OciSpec => applyCdiEdits(buildSpec(input), cdi);

/** Builds a container's OCI spec from its record, its sandbox and the host. This happens once, when the container is created. */
export class ContainerSpecs {
  readonly #dependencies: ContainerSpecsDependencies;

  constructor(dependencies: ContainerSpecsDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Resolves the inputs of a new container's OCI spec. Has side effects: creates missing host paths, relabels mounts, loads the default
   * AppArmor profile, and starts the init process of a shared PID namespace.
   */
  async resolve(record: ContainerRecord, sandbox: SandboxRecord, signal: AbortSignal): Promise<SpecSources> {
    const { controllers, containers, host, cdiDirectories, confinement } = this.#dependencies;
    const { config } = record;
    const controller = controllers.of(sandbox);
    const environment = controller.environment(sandbox);
    const devices = await Promise.all(config.devices.map((device) => resolveDevices(device)));
    const security = await resolveSecurity(record, sandbox, confinement);
    const mounts = await this.#mounts(record, { sandbox, environment, label: security.selinuxMountLabel });
    const cdi = await resolveCdiDevices(config.cdiDevices ?? [], cdiDirectories);
    const input: SpecInput = {
      ...this.#process(record, sandbox),
      env: await this.#environment(record, sandbox, mounts),
      mounts,
      security,
      namespaces: await resolveNamespaces(record, { sandbox, controller, environment, containers, signal }),
      devices: devices.flat(),
      hostDevices: config.security.privileged ? await listHostDevices() : [],
      resources: resourcesAtStart(config.resources),
      ...this.#cgroup(record, sandbox),
      host,
    };
    return { input, cdi };
  }

  /** Returns the record's resource limits in OCI format. Throws `failed_precondition` if the host does not support one of them. */
  limits(record: ContainerRecord): OciLinuxResources {
    return computeResources(specResources(record.config.resources), this.#dependencies.host);
  }

  /**
   * Returns the OCI spec with the record's resource limits. For a running container, oom_score_adj stays unchanged, because an update of
   * the cgroup's limits does not change it in the container's processes.
   */
  withLimits(spec: OciSpec, { config: { resources }, state }: ContainerRecord): OciSpec {
    const { host } = this.#dependencies;
    if (state.phase === 'running') return withResources(spec, computeResources(specResources(resources), host));
    const initial = resourcesAtStart(resources);
    const oomScoreAdj = computeOomScoreAdj(initial, host);
    return withResources({ ...spec, process: { ...spec.process, oomScoreAdj } }, computeResources(initial, host));
  }

  /** Returns the names of the adjusted settings that this host does not support. */
  unsupported(adjust: ContainerAdjustment, { config: { runtimeHandler } }: SandboxRecord): string[] {
    const { host, ociVersions } = this.#dependencies;
    const ociVersion = ociVersions.get(runtimeHandler) ?? OLDEST_OCI_VERSION;
    const { cgroupMode, hugetlb, swapLimit } = host;
    const cgroupVersion = cgroupMode === 'v2' ? 2 : 1;
    return unsupportedSettings(adjust, { ociVersion, cgroupVersion, hugetlb, swapLimit, rdt: existsSync(RESCTRL) });
  }

  /** Adds CDI devices to an OCI spec. Throws the errors of `resolveCdiDevices`. */
  async withCdiDevices(spec: OciSpec, names: string[]): Promise<OciSpec> {
    return names.length === 0
      ? spec
      : applyCdiEdits(spec, await resolveCdiDevices(names, this.#dependencies.cdiDirectories));
  }

  #process({ id, config, image, user }: ContainerRecord, sandbox: SandboxRecord) {
    return {
      args: computeArgs(config, image.config),
      cwd: computeWorkingDirectory(config.workingDir, image.config),
      user,
      terminal: config.tty,
      rlimits: computeRlimits(this.#dependencies.openFiles, this.#dependencies.host),
      rootfs: { path: this.#dependencies.files.rootfs(id), readonly: config.security.readonlyRootfs },
      hostname: hostnameOf(sandbox),
    };
  }

  /** Returns the environment of the container's init process, which is inherited by exec processes. */
  async #environment(
    { id, config, image, user }: ContainerRecord,
    sandbox: SandboxRecord,
    mounts: SpecInput['mounts'],
  ): Promise<string[]> {
    const sources = {
      image: image.config,
      hostname: hostnameOf(sandbox),
      terminal: config.tty,
      requested: config.envs,
    };
    const env = computeEnvironment(sources);
    if (hasHome(env)) return env;
    const rootfs = this.#dependencies.files.rootfs(id);
    return withDefaultHome(env, { lacksAccount: await lacksAccount(user.uid, { rootfs, mounts }) });
  }

  #cgroup(record: ContainerRecord, sandbox: SandboxRecord): Pick<SpecInput, 'cgroupsPath' | 'annotations'> {
    const cgroupsPath = this.#dependencies.cgroupsPath(sandbox, record.id);
    const { resources, security } = record.config;
    const needs = { cgroupsPath, unified: resources.unified, privileged: security.privileged };
    const properties = this.#dependencies.scopeOomPolicy ? scopeProperties(needs) : {};
    return { cgroupsPath, annotations: { ...annotationsOf(record, sandbox), ...properties } };
  }

  async #mounts(
    record: ContainerRecord,
    { sandbox, environment, label }: { sandbox: SandboxRecord; environment: SandboxEnvironment; label: string },
  ): Promise<SpecInput['mounts']> {
    const requested = await resolveMounts(record, this.#mountSources(record, environment));
    const mounts = await resolveDestinations(this.#dependencies.files.rootfs(record.id), requested);
    for (const mount of mounts) if (mount.selinuxRelabel) await relabel(mount.source, label);
    const bound = sandbox.config.userNamespace === undefined ? mounts : withMountsBelow(mounts, readMounts());
    return await withSourceRestrictions(bound, this.#dependencies.system);
  }

  #mountSources(record: ContainerRecord, environment: SandboxEnvironment): MountSources {
    const { files } = this.#dependencies;
    const images = record.config.mounts.filter(({ image }) => image !== '');
    return {
      environment,
      imageMounts: images.map((mount, index) => ({
        root: files.imageMount(record.id, index),
        subPath: mount.imageSubPath,
      })),
      mappedMount: (index) =>
        record.config.mounts[index]?.mappings === undefined ? undefined : files.mappedMount(record.id, index),
      volumes: imageVolumes(record).map((destination, index) => ({
        destination,
        source: files.volume(record.id, index),
      })),
    };
  }
}

const hostnameOf = ({ config }: SandboxRecord) => (config.hostname === '' ? hostname() : config.hostname);

/** Drops a CPU quota of -1 (unlimited): it is the default of a new cgroup, and crun 1.8 fails to set it on cgroup v1. */
function resourcesAtStart(resources: ContainerResources): SpecResources {
  return specResources({ ...resources, cpuQuota: Math.max(0, resources.cpuQuota) });
}

function specResources(resources: ContainerResources): SpecResources {
  return { ...resources, pidsLimit: 0 };
}

/** Returns the same annotations as containerd. Tools use them to recognize CRI containers. */
function annotationsOf(record: ContainerRecord, sandbox: SandboxRecord): Record<string, string> {
  return {
    'io.kubernetes.cri.container-type': 'container',
    'io.kubernetes.cri.container-name': record.config.name,
    'io.kubernetes.cri.image-name': record.config.image.reference,
    'io.kubernetes.cri.sandbox-id': sandbox.id,
    'io.kubernetes.cri.sandbox-name': sandbox.config.podName,
    'io.kubernetes.cri.sandbox-namespace': sandbox.config.podNamespace,
    'io.kubernetes.cri.sandbox-uid': sandbox.config.podUid,
  };
}
