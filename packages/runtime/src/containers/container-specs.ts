import { hostname } from 'node:os';
import type { RecordTable } from '@podwright/metadata';
import { readMounts, type System } from '@podwright/system';
import { applyCdiEdits, type ResolvedEdits } from '../cdi/apply-edits.ts';
import { resolveCdiDevices } from '../cdi/cdi-devices.ts';
import { relabel } from '../host/selinux.ts';
import { buildSpec } from '../oci/build-spec.ts';
import { computeArgs, computeEnvironment, computeRlimits, computeWorkingDirectory } from '../oci/process-config.ts';
import type { OciLinuxResources, OciSpec } from '../oci/spec.ts';
import type { SpecHost, SpecInput, SpecResources } from '../oci/spec-input.ts';
import { computeOomScoreAdj, computeResources, withResources } from '../oci/spec-resources.ts';
import type { OpenFilesLimit } from '../options.ts';
import type { ContainerRecord, ContainerResources } from '../records/container-record.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { SandboxEnvironment } from '../sandbox/sandbox-controller.ts';
import type { SandboxControllers } from '../sandbox/sandbox-controllers.ts';
import type { ContainerFiles } from './container-files.ts';
import { listHostDevices, resolveDevices } from './resolve-devices.ts';
import {
  atResolvedPlaces,
  imageVolumes,
  type MountSources,
  resolveMounts,
  withMountsBelow,
  withSourceRestrictions,
} from './resolve-mounts.ts';
import { resolveNamespaces } from './resolve-namespaces.ts';
import { type Confinement, resolveSecurity } from './resolve-security.ts';
import { scopeProperties } from './scope-properties.ts';

export type ContainerSpecsDependencies = {
  system: System;
  files: ContainerFiles;
  controllers: SandboxControllers;
  /** Where a container is found whose PID namespace another one joins. */
  containers: RecordTable<ContainerRecord>;
  cgroupsPath: (sandbox: SandboxRecord, taskId: string) => string;
  /** Directories of CDI specifications. */
  cdiDirectories: string[];
  confinement: Confinement;
  /** What the host has. */
  host: SpecHost;
  openFiles: OpenFilesLimit | undefined;
  /** systemd takes `OOMPolicy` for scopes. */
  scopeOomPolicy: boolean;
};

/** Everything that a container's specification is made from, looked up. */
export type SpecSources = { input: SpecInput; cdi: ResolvedEdits };

/** A container's specification out of what was looked up for it. Pure. */
export const buildContainerSpec = ({ input, cdi }: SpecSources): OciSpec => applyCdiEdits(buildSpec(input), cdi);

/** Makes containers' specifications: each once, at the container's creation, out of its record, its sandbox and the host. */
export class ContainerSpecs {
  readonly #dependencies: ContainerSpecsDependencies;

  constructor(dependencies: ContainerSpecsDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Looks up what a new container's specification is made from. This changes the host: missing host paths are made, files get
   * the label of the container, the default AppArmor profile is loaded, and the init of a shared PID namespace is started.
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

  /** The limits of the record. `failed_precondition` for those that the host does not have. */
  limits(record: ContainerRecord): OciLinuxResources {
    return computeResources(specResources(record.config.resources), this.#dependencies.host);
  }

  /**
   * The specification with the limits of the record: for the start of a created container, or as a running one has them now,
   * whose process keeps the oom_score_adj that it was started with.
   */
  withLimits(spec: OciSpec, { config: { resources }, state }: ContainerRecord): OciSpec {
    const { host } = this.#dependencies;
    if (state.phase === 'running') return withResources(spec, computeResources(specResources(resources), host));
    const wanted = resourcesAtStart(resources);
    const oomScoreAdj = computeOomScoreAdj(wanted, host);
    return withResources({ ...spec, process: { ...spec.process, oomScoreAdj } }, computeResources(wanted, host));
  }

  #process({ id, config, image, user }: ContainerRecord, sandbox: SandboxRecord) {
    const podName = sandbox.config.hostname === '' ? hostname() : sandbox.config.hostname;
    return {
      args: computeArgs(config, image.config),
      env: computeEnvironment({ image: image.config, hostname: podName, terminal: config.tty, asked: config.envs }),
      cwd: computeWorkingDirectory(config.workingDir, image.config),
      user,
      terminal: config.tty,
      rlimits: computeRlimits(this.#dependencies.openFiles, this.#dependencies.host),
      rootfs: { path: this.#dependencies.files.rootfs(id), readonly: config.security.readonlyRootfs },
      hostname: podName,
    };
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
    const asked = await resolveMounts(record, this.#mountSources(record, environment));
    const mounts = await atResolvedPlaces(this.#dependencies.files.rootfs(record.id), asked);
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

/** A new cgroup has no quota; crun 1.8 fails when it is asked for none on cgroup v1. */
function resourcesAtStart(resources: ContainerResources): SpecResources {
  return specResources({ ...resources, cpuQuota: Math.max(0, resources.cpuQuota) });
}

function specResources(resources: ContainerResources): SpecResources {
  return { ...resources, pidsLimit: 0 };
}

/** The annotations by which tools know containers of Kubernetes' runtimes. */
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
