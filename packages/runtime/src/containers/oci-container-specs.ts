import { hostname } from 'node:os';
import { posix } from 'node:path';
import { PodwrightError } from '@podwright/base';
import type { ImageRecord } from '@podwright/images';
import type { RecordTable } from '@podwright/metadata';
import { readMounts, type System } from '@podwright/system';
import { applyCdiEdits } from '../cdi/apply-edits.ts';
import { resolveCdiDevices } from '../cdi/cdi-devices.ts';
import { relabel } from '../host/selinux.ts';
import { buildSpec } from '../oci/build-spec.ts';
import { listHostDevices, resolveDevices } from '../oci/devices.ts';
import { computeArgs, computeEnvironment, computeWorkingDirectory } from '../oci/process-config.ts';
import type { OciLinuxResources, OciSpec } from '../oci/spec.ts';
import type { SpecHost, SpecNamespace, SpecNamespaces, SpecResources } from '../oci/spec-input.ts';
import { computeResources } from '../oci/spec-resources.ts';
import { resolveUser, userString } from '../oci/user.ts';
import type { ContainerRecord, ContainerResources } from '../records/container-record.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { SandboxController } from '../sandbox/sandbox-controller.ts';
import type { SandboxControllers } from '../sandbox/sandbox-controllers.ts';
import type { ContainerFiles } from './container-files.ts';
import { type MountSources, resolveMounts, withMountsBelow, withSourceRestrictions } from './container-mounts.ts';
import { type Confinement, containerSecurity } from './container-security.ts';
import type { ContainerSpecs } from './container-specs.ts';

export type OciContainerSpecsDependencies = {
  system: System;
  files: ContainerFiles;
  controllers: SandboxControllers;
  /** Where a container is found whose PID namespace another one joins. */
  containers: RecordTable<ContainerRecord>;
  cgroupsPath: (sandbox: SandboxRecord, taskId: string) => string;
  /** Folders of CDI specifications. */
  cdiFolders: string[];
  confinement: Confinement;
  /** What the machine has. */
  host: SpecHost;
};

/** Specifications by the OCI builder, from a container's record, its sandbox, and what the machine has. */
export class OciContainerSpecs implements ContainerSpecs {
  readonly #dependencies: OciContainerSpecsDependencies;

  constructor(dependencies: OciContainerSpecsDependencies) {
    this.#dependencies = dependencies;
  }

  imageVolumes({ config, image }: ContainerRecord): string[] {
    const covered = new Set(config.mounts.map(({ containerPath }) => posix.resolve(containerPath)));
    const declared = Object.keys(image.config.Volumes ?? {}).map((path) => posix.resolve('/', path));
    return [...new Set(declared)].filter((path) => path !== '/' && !covered.has(path)).sort();
  }

  resolveUser({ id, config: { security } }: ContainerRecord, image: ImageRecord): Promise<ContainerRecord['user']> {
    return resolveUser(this.#dependencies.files.rootfs(id), {
      user: userString(security, image.config.config.User),
      supplementalGroups: security.supplementalGroups,
      groupsPolicy: security.supplementalGroupsPolicy,
    });
  }

  async build(record: ContainerRecord, sandbox: SandboxRecord, signal: AbortSignal): Promise<OciSpec> {
    const { files, controllers, cgroupsPath, host, cdiFolders, system } = this.#dependencies;
    const { config, image, user } = record;
    const controller = controllers.of(sandbox);
    const podName = sandbox.config.hostname === '' ? hostname() : sandbox.config.hostname;
    const devices = await Promise.all(config.devices.map((device) => resolveDevices(device)));
    const security = await containerSecurity(record, sandbox, this.#dependencies.confinement);
    const mounts = await resolveMounts(record, this.#mountSources(record, controller.environment(sandbox)));
    for (const mount of mounts) if (mount.selinuxRelabel) await relabel(mount.source, security.selinuxMountLabel);
    const bound = sandbox.config.userNamespace === undefined ? mounts : withMountsBelow(mounts, readMounts());
    const edits = await resolveCdiDevices(config.cdiDevices ?? [], cdiFolders);
    const spec = buildSpec({
      args: computeArgs(config, image.config),
      env: computeEnvironment({ image: image.config, hostname: podName, terminal: config.tty, asked: config.envs }),
      cwd: computeWorkingDirectory(config.workingDir, image.config),
      user,
      terminal: config.tty,
      rootfs: { path: files.rootfs(record.id), readonly: config.security.readonlyRootfs },
      hostname: podName,
      mounts: await withSourceRestrictions(bound, system),
      security,
      namespaces: await this.#namespaces(record, { sandbox, controller, signal }),
      devices: devices.flat(),
      hostDevices: config.security.privileged ? await listHostDevices() : [],
      resources: specResources(resourcesAtStart(config.resources)),
      cgroupsPath: cgroupsPath(sandbox, record.id),
      annotations: annotationsOf(record, sandbox),
      host,
    });
    return await applyCdiEdits(spec, edits);
  }

  resources(record: ContainerRecord): OciLinuxResources {
    return computeResources(specResources(record.config.resources), this.#dependencies.host);
  }

  #mountSources(record: ContainerRecord, environment: MountSources['environment']): MountSources {
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
      volumes: this.imageVolumes(record).map((destination, index) => ({
        destination,
        source: files.volume(record.id, index),
      })),
    };
  }

  async #namespaces(
    record: ContainerRecord,
    pod: { sandbox: SandboxRecord; controller: SandboxController; signal: AbortSignal },
  ): Promise<SpecNamespaces> {
    const { network, ipc, uts, user } = pod.controller.environment(pod.sandbox).namespaces;
    const mappings = pod.sandbox.config.userNamespace;
    const shared = (path: string | undefined): SpecNamespace =>
      path === undefined ? { kind: 'host' } : { kind: 'path', path };
    return {
      network: shared(network),
      ipc: shared(ipc),
      uts: shared(uts),
      pid: await this.#pidNamespace(record, pod),
      ...(user === undefined || mappings === undefined ? {} : { user: { path: user, mappings } }),
    };
  }

  async #pidNamespace(
    record: ContainerRecord,
    { sandbox, controller, signal }: { sandbox: SandboxRecord; controller: SandboxController; signal: AbortSignal },
  ): Promise<SpecNamespace> {
    const { pid } = record.config.security;
    if (pid.mode === 'node') return { kind: 'host' };
    if (pid.mode === 'container') return { kind: 'new' };
    if (pid.mode === 'pod') return { kind: 'path', path: await controller.sharedPidNamespace(sandbox, signal) };
    const target = this.#dependencies.containers.require(pid.containerId);
    if (target.sandboxId !== sandbox.id || target.state.phase !== 'running') {
      throw new PodwrightError(
        'failed_precondition',
        `join the PID namespace of container ${target.id}: it does not run in sandbox ${sandbox.id}`,
      );
    }
    return { kind: 'path', path: `/proc/${target.state.pid}/ns/pid` };
  }
}

/** A new cgroup has no quota; crun 1.8 fails when it is asked for none on cgroup v1. */
function resourcesAtStart(resources: ContainerResources): ContainerResources {
  return { ...resources, cpuQuota: Math.max(0, resources.cpuQuota) };
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
