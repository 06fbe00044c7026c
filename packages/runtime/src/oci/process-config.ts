import { posix } from 'node:path';
import { PodwrightError } from '@podwright/base';
import type { ImageConfig } from '@podwright/images';
import type { OpenFilesLimit } from '../options.ts';
import type { OciProcess } from './spec.ts';
import type { SpecHost } from './spec-input.ts';

type ImageDefaults = ImageConfig['config'];

/** PATH if the image sets none. */
const DEFAULT_PATH = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** systemd's default for services, which containers of containerd 2, CRI-O and Docker inherit. */
const DEFAULT_OPEN_FILES: OpenFilesLimit = { soft: 1024, hard: 524_288 };

/**
 * Computes the command line of a container: its command replaces the image's Entrypoint and Cmd, arguments alone replace Cmd. As in Docker
 * and containerd, an Entrypoint of one empty word counts as unset. Throws `invalid_argument` if there is nothing to run.
 */
export function computeArgs(requested: { command: string[]; args: string[] }, image: ImageDefaults): string[] {
  const { Entrypoint = [] } = image;
  const entrypoint = Entrypoint.length === 1 && Entrypoint[0] === '' ? [] : Entrypoint;
  const command = requested.command.length > 0 ? requested.command : entrypoint;
  const useImageArgs = requested.command.length === 0 && requested.args.length === 0;
  const args = [...command, ...(useImageArgs ? (image.Cmd ?? []) : requested.args)];
  if (args.length === 0)
    throw new PodwrightError('invalid_argument', 'no command specified: neither the container nor its image has one');
  if (args[0] === '')
    throw new PodwrightError('invalid_argument', 'the first word of the command is empty: it names no program to run');
  return args;
}

/** Sources of a container's environment. Later ones take precedence. */
export type EnvironmentSources = {
  image: ImageDefaults;
  /** Host name of the pod, for HOSTNAME; '' for none. */
  hostname: string;
  terminal: boolean;
  requested: { name: string; value: string }[];
};

/**
 * Computes the environment as a list of `NAME=value`, in the order in which names first appear: default PATH, TERM for a terminal,
 * HOSTNAME, the image's variables, the requested ones. As in Docker and containerd, an entry without `=` unsets the variable. Entries
 * without a name are omitted, because newer versions of runc refuse them.
 */
export function computeEnvironment({ image, hostname, terminal, requested }: EnvironmentSources): string[] {
  const all = [
    DEFAULT_PATH,
    ...(terminal ? ['TERM=xterm'] : []),
    ...(hostname === '' ? [] : [`HOSTNAME=${hostname}`]),
    ...(image.Env ?? []),
    ...requested.map(({ name, value }) => `${name}=${value}`),
  ];
  const merged = new Map<string, string>();
  for (const entry of all) {
    const end = entry.indexOf('=');
    if (end > 0) merged.set(entry.slice(0, end), entry);
    else if (end < 0) merged.delete(entry);
  }
  return [...merged.values()];
}

/** Whether the environment has a HOME that is not empty. If not, the OCI runtime sets it to the home in the container's /etc/passwd. */
export const hasHome = (env: string[]): boolean => env.some((variable) => /^HOME=./.test(variable));

/**
 * The environment of a container without a HOME. For a user without an entry in /etc/passwd, HOME is `/`, as runc sets it; crun before 1.20
 * does not set it. For other users an empty HOME is removed, because runc replaces it with the user's home directory, but crun does not.
 */
export function withDefaultHome(env: string[], { lacksAccount }: { lacksAccount: boolean }): string[] {
  const others = env.filter((variable) => !variable.startsWith('HOME='));
  return lacksAccount ? [...others, 'HOME=/'] : others;
}

/** The working directory: the requested one, or the image's, or the root. The OCI runtime creates it if it is missing. */
export function computeWorkingDirectory(requested: string, image: ImageDefaults): string {
  return posix.resolve('/', requested || image.WorkingDir || '/');
}

/**
 * The limit of open files, which also bounds the kernel memory that a process can use for sockets. Without it a container would inherit
 * this process's limit, whose soft limit Node.js has raised, and some programs close every descriptor up to that limit when they start.
 */
export function computeRlimits(
  requested: OpenFilesLimit | undefined,
  { openFiles }: Pick<SpecHost, 'openFiles'>,
): NonNullable<OciProcess['rlimits']> {
  const { soft, hard } = requested ?? DEFAULT_OPEN_FILES;
  return [{ type: 'RLIMIT_NOFILE', soft: Math.min(soft, openFiles), hard: Math.min(hard, openFiles) }];
}
