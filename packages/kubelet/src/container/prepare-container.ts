import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CONTAINER_FILE,
  errorMessage,
  isErrno,
  KeyedLock,
  OPEN_FILE,
  POD_DIRECTORY,
  PodwrightError,
  PRIVATE_FILE,
} from '@podwright/base';
import { writeFileAtomic } from '@podwright/host';
import type { Container, Pod, PodObjects } from '@podwright/kube-api';
import type { NodeAllocatable, PodDirectories, PodVolumes } from '@podwright/volumes';
import { absolutePath, type WantedMount, wantedMounts } from './container-mounts.ts';
import { makeEnvironment } from './environment.ts';
import { readEnvironmentFiles } from './environment-files.ts';
import { etcHosts } from './etc-hosts.ts';
import { expand } from './expansion.ts';
import type {
  ContainerMount,
  EnvironmentVariable,
  GrantedDevice,
  PreparedContainer,
  PrepareRequest,
} from './prepared-container.ts';

/** Number of termination message files from earlier attempts to retain: the previous container's, and those from earlier sandboxes. */
const KEPT_MESSAGE_FILES = 4;

export type ContainerPreparerOptions = {
  volumes: PodVolumes;
  directories: PodDirectories;
  objects: PodObjects;
  nodeAllocatable: NodeAllocatable;
  hostIps: () => string[];
  clusterDomain: string;
  /** The host's hosts file, for pods that use the host network. */
  hostsFile: string;
  /** Returns the pod's service environment variables. Absent if there is no API server; throws until the services have been listed. */
  serviceVariables?: (pod: Pod) => ReadonlyMap<string, string>;
};

const HOSTS_PATH = '/etc/hosts';

/** Resolves a container's environment, command and mounts, including their host paths. */
export class ContainerPreparer {
  readonly #options: ContainerPreparerOptions;
  readonly #hostsFiles = new KeyedLock();

  constructor(options: ContainerPreparerOptions) {
    this.#options = options;
  }

  /**
   * Prepares a container. The pod's volumes must already be mounted. Rejects with `failed_precondition`; the error names what is missing.
   */
  async prepare(request: PrepareRequest, signal: AbortSignal): Promise<PreparedContainer> {
    const { pod, container, podIps } = request;
    const environment = await this.#environment(request, signal);
    const variables = new Map(environment.map(({ name, value }) => [name, value]));
    const expandAll = (texts: string[] = []) => texts.map((text) => expand(text, (name) => variables.get(name)));
    const wanted = wantedMounts({ ...request, environment });
    const mounts = await Promise.all([
      ...wanted.map((mount) => this.#place(request, mount, signal)),
      this.#etcHosts(pod, wanted, podIps),
      this.#terminationLog(pod, container),
    ]);
    return {
      environment,
      devices: await this.#devices(request, signal),
      command: expandAll(container.command),
      args: expandAll(container.args),
      mounts: mounts.filter((mount) => mount !== undefined),
    };
  }

  /** Returns the container's block volumes. Their host paths are symlinks to the devices. */
  async #devices({ pod, container }: PrepareRequest, signal: AbortSignal): Promise<GrantedDevice[]> {
    const devices = (container.volumeDevices ?? []).map(async ({ name, devicePath }) => {
      const claim = pod.spec.volumes?.find((volume) => volume.name === name)?.persistentVolumeClaim;
      const hostPath = await this.#volumePath(pod, name, signal);
      return { containerPath: devicePath, hostPath, permissions: claim?.readOnly === true ? 'r' : 'mrw' };
    });
    return await Promise.all(devices);
  }

  async #environment({ pod, container, podIps }: PrepareRequest, signal: AbortSignal): Promise<EnvironmentVariable[]> {
    const files = await readEnvironmentFiles(container, (volume) => this.#volumePath(pod, volume, signal));
    const services = this.#options.serviceVariables?.(pod);
    return makeEnvironment({
      ...this.#options,
      pod,
      container,
      podIps,
      files,
      services,
      hostIps: this.#options.hostIps(),
    });
  }

  async #volumePath(pod: Pod, volume: string, signal: AbortSignal): Promise<string> {
    const { volumes } = this.#options;
    const known = volumes.pathsOf(pod.metadata.uid).get(volume);
    if (known !== undefined) return known;
    const { paths, failures } = await volumes.mountForPod(pod, signal);
    const path = paths.get(volume);
    if (path === undefined)
      throw new PodwrightError('failed_precondition', failures.map(({ message }) => message).join('; '));
    return path;
  }

  async #place(
    { pod, container, volumeImages }: PrepareRequest,
    mount: WantedMount,
    signal: AbortSignal,
  ): Promise<ContainerMount> {
    const { volumes } = this.#options;
    const { uid } = pod.metadata;
    const { subPath, index, ...rest } = mount;
    const image = volumeImages.get(mount.name);
    if (image !== undefined) return { ...rest, hostPath: '', image, imageSubPath: subPath };
    const volumePath = await this.#volumePath(pod, mount.name, signal);
    if (subPath === '') return { ...rest, hostPath: volumePath };
    const place = { podUid: uid, containerName: container.name, volumeName: mount.name, volumePath, subPath, index };
    try {
      return { ...rest, hostPath: await volumes.prepareSubPath(place, signal) };
    } catch (error) {
      const what = `failed to prepare subPath for volumeMount "${mount.name}" of container "${container.name}"`;
      throw new PodwrightError('failed_precondition', `${what}: ${errorMessage(error)}`, { cause: error });
    }
  }

  /** Returns the mount of the pod's hosts file, or `undefined` if the container mounts its own or the pod has no IP address. */
  async #etcHosts(pod: Pod, wanted: WantedMount[], podIps: string[]): Promise<ContainerMount | undefined> {
    if (wanted.some(({ containerPath }) => containerPath === HOSTS_PATH)) return undefined;
    if (podIps.length === 0 && pod.spec.hostNetwork !== true) return undefined;
    const { directories, clusterDomain, hostsFile } = this.#options;
    const { uid } = pod.metadata;
    const path = directories.etcHosts(uid);
    await this.#hostsFiles.run(uid, async () => {
      const hostContent = pod.spec.hostNetwork === true ? await readIfThere(hostsFile) : '';
      const content = etcHosts({ pod, podIps, clusterDomain, hostContent });
      // write only if the content differs: running containers have the existing file mounted and would not see later changes to a
      // replacement
      if (await holds(path, content)) return;
      await mkdir(directories.pod(uid), { recursive: true, mode: POD_DIRECTORY });
      await writeFileAtomic(path, content, CONTAINER_FILE);
    });
    return { ...KUBELET_MOUNT, name: 'etc-hosts', hostPath: path, containerPath: HOSTS_PATH };
  }

  /** Returns the mount of a new termination message file for this attempt. The file is writable by every user in the container. */
  async #terminationLog(pod: Pod, container: Container): Promise<ContainerMount | undefined> {
    if (!container.terminationMessagePath) return undefined;
    const containerPath = absolutePath(container.terminationMessagePath);
    const directory = this.#options.directories.containers(pod.metadata.uid, container.name);
    await mkdir(directory, { recursive: true, mode: POD_DIRECTORY });
    const earlier = (await readdir(directory)).sort();
    const outdated = earlier.slice(0, Math.max(0, earlier.length - KEPT_MESSAGE_FILES));
    await Promise.all(outdated.map((name) => rm(join(directory, name), { force: true })));
    const path = join(directory, `${Date.now()}-${randomBytes(4).toString('hex')}`);
    await writeFile(path, '', { flag: 'wx', mode: PRIVATE_FILE });
    await chmod(path, OPEN_FILE);
    return { ...KUBELET_MOUNT, name: 'termination-log', hostPath: path, containerPath };
  }
}

const KUBELET_MOUNT = { readonly: false, recursiveReadOnly: false, propagation: 'None', relabel: true } as const;

/**
 * Whether a hosts file is a regular file with exactly this content. Containers can write to it, so no more than the expected length is
 * read.
 */
async function holds(path: string, content: string): Promise<boolean> {
  const wanted = Buffer.from(content);
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile() || stats.size !== wanted.length) return false;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(wanted.length), 0, wanted.length, 0);
    return wanted.equals(buffer.subarray(0, bytesRead));
  } catch (error) {
    // EAGAIN: a container holds a lease on the hosts file
    if (['ENOENT', 'ELOOP', 'ENXIO', 'EAGAIN'].some((code) => isErrno(error, code))) return false;
    throw error;
  }
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return '';
    throw error;
  }
}
