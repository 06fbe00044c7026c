import { didYouMean, PodwrightError } from '@podwright/base';
import type { GivenFields, OwnFlag } from '@podwright/kubelet-configuration';
import type { DockershimFlags } from '../settings/config-flags.ts';
import type { ContainerRuntime } from '../settings/container-runtime.ts';

const RUNTIMES = ['docker', 'remote'];
const DOCKER = '; of --container-runtime=docker';

/** Flags of upstream's kubelet up to 1.23, the last version with the dockershim. */
export const DOCKER_FLAGS: OwnFlag[] = [
  {
    name: 'container-runtime',
    value: 'name',
    about: 'remote (a runtime at the endpoint) or docker (a Docker Engine, through a dockershim in this process)',
  },
  { name: 'docker-endpoint', value: 'socket', about: `the Engine's socket${DOCKER}` },
  { name: 'pod-infra-container-image', value: 'image', about: `image of infra containers${DOCKER}` },
  { name: 'network-plugin', value: 'name', about: `cni, or none for Docker's own bridge${DOCKER}` },
  { name: 'cni-bin-dir', value: 'paths', about: `directories of CNI plugins, with commas between them${DOCKER}` },
  { name: 'cni-cache-dir', value: 'path', about: `cached results of CNI plugins${DOCKER}` },
  { name: 'non-masquerade-cidr', value: 'cidr', about: `destinations that see pod IPs, without masquerading${DOCKER}` },
  { name: 'network-plugin-mtu', value: 'bytes', about: `MTU of pods' links${DOCKER}` },
  {
    name: 'experimental-dockershim-root-directory',
    value: 'path',
    about: `persistent data of the dockershim${DOCKER}`,
  },
  {
    name: 'image-pull-progress-deadline',
    value: 'duration',
    about: `cancel a pull without progress for this long${DOCKER}`,
  },
  {
    name: 'redirect-container-streaming',
    about: 'only false: exec, attach and port-forward always go through the kubelet',
  },
];

/** The flags in `DOCKER_FLAGS` that are not dockershim settings. */
const NO_SETTINGS = ['container-runtime', 'redirect-container-streaming'];

type Line = { own: ReadonlyMap<string, string>; given: GivenFields };

/** The parts of a kubelet command line that concern Docker. */
export type DockerLine = {
  settings: DockershimFlags;
  /** The flags on the command line that require a Docker Engine, such as `--network-plugin`. */
  needing: string[];
  /** The value of the flag `--container-runtime`. */
  runtime: ContainerRuntime | undefined;
};

/** Reads the Docker flags from a kubelet command line. Throws an `invalid_argument` error that names the flag and its valid values. */
export function dockerLine({ own, given }: Line): DockerLine {
  if (!['false', undefined].includes(own.get('redirect-container-streaming')))
    throw invalid(
      '--redirect-container-streaming: streams always go through the kubelet; leave it out, or set it to false',
    );
  const flags = DOCKER_FLAGS.filter(({ name }) => own.has(name) && !NO_SETTINGS.includes(name));
  const values = flags.map(({ name }) => [camelCase(name), own.get(name)!]);
  const cgroup = String(given.get('runtimeCgroups')?.value ?? '');
  const runtimeCgroups = cgroup === '' ? {} : { runtimeCgroups: cgroup.replace(/^\/*/, '/') };
  // not only for Docker: kubelets that use other runtimes also accept the hairpin mode flag, without effect
  const hairpin = given.get('hairpinMode')?.value;
  const hairpinMode = hairpin === undefined ? {} : { hairpinMode: String(hairpin) };
  return {
    settings: { ...Object.fromEntries(values), ...runtimeCgroups, ...hairpinMode },
    needing: flags.map(({ name }) => `--${name}`),
    runtime: runtimeOf(own.get('container-runtime')),
  };
}

/**
 * Whether the kubelet uses a Docker Engine, according to the flag or, if it is unset, the settings. Throws `invalid_argument` if it does
 * not, but other flags require one.
 */
export function isForDocker({ needing, runtime }: DockerLine, inSettings: ContainerRuntime): boolean {
  const isDocker = (runtime ?? inSettings) === 'docker';
  if (!isDocker && needing.length > 0)
    throw invalid(`${needing[0]}: is for a Docker Engine; add --container-runtime=docker, or leave it out`);
  return isDocker;
}

function runtimeOf(name: string | undefined): ContainerRuntime | undefined {
  if (name === undefined) return undefined;
  if (name === 'docker' || name === 'remote') return name;
  throw invalid(
    `--container-runtime=${name}: must be docker (a Docker Engine) or remote (a runtime at --container-runtime-endpoint)${didYouMean(name, RUNTIMES)}`,
  );
}

const camelCase = (name: string) => name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

function invalid(message: string): PodwrightError {
  return new PodwrightError('invalid_argument', message);
}
