import { posix } from 'node:path';
import { PodwrightError } from '@podwright/base';
import type { ImageConfig } from '@podwright/images';
import type { OciProcess } from './spec.ts';
import type { OpenFilesLimit, SpecHost } from './spec-input.ts';

type ImageDefaults = ImageConfig['config'];

/** PATH for containers whose image sets none. */
const DEFAULT_PATH = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Default limit on open files: systemd's default for services, which the containers of containerd 2, CRI-O and Docker inherit. */
const DEFAULT_OPEN_FILES: OpenFilesLimit = { soft: 1024, hard: 524_288 };

/**
 * Computes a container's command line: its command replaces the image's Entrypoint and Cmd, whereas its arguments alone replace only Cmd.
 * As in Docker and containerd, an Entrypoint consisting of one empty string counts as unset. Throws `invalid_argument` if there is nothing
 * to run.
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

/** Sources of a container's environment variables. Later sources take precedence. */
export type EnvironmentSources = {
  image: ImageDefaults;
  /** The pod's host name, for HOSTNAME; '' for none. */
  hostname: string;
  terminal: boolean;
  requested: { name: string; value: string }[];
};

/**
 * Computes the environment as a list of `NAME=value` entries, in the order in which the names first appear: the default PATH, TERM if there
 * is a terminal, HOSTNAME, the image's variables, and the requested ones. As in Docker and containerd, an entry without `=` unsets the
 * variable. Entries without a name are omitted, because newer versions of runc reject them.
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

/**
 * Whether the environment contains a non-empty HOME. If not, the OCI runtime sets it to the home directory in the container's /etc/passwd.
 */
export const hasHome = (env: string[]): boolean => env.some((variable) => /^HOME=./.test(variable));

/**
 * Returns the environment of a container that has no HOME. For a user without an entry in /etc/passwd, HOME is set to `/`, as runc does;
 * crun before 1.20 does not set it. For other users an empty HOME is removed, because runc replaces it with the user's home directory, but
 * crun does not.
 */
export function withDefaultHome(env: string[], { lacksAccount }: { lacksAccount: boolean }): string[] {
  const others = env.filter((variable) => !variable.startsWith('HOME='));
  return lacksAccount ? [...others, 'HOME=/'] : others;
}

/**
 * Returns the working directory: the requested one, otherwise the image's, otherwise the root. The OCI runtime creates it if it is missing.
 */
export function computeWorkingDirectory(requested: string, image: ImageDefaults): string {
  return posix.resolve('/', requested || image.WorkingDir || '/');
}

/**
 * Returns the limit on open files, which also limits the kernel memory that a process can use for sockets. If it were unset, the container
 * would inherit the limits of this process, whose soft limit Node.js has raised. Some programs close every file descriptor up to the soft
 * limit when they start, which would take long.
 */
export function computeRlimits(
  requested: OpenFilesLimit | undefined,
  { openFiles }: Pick<SpecHost, 'openFiles'>,
): NonNullable<OciProcess['rlimits']> {
  const { soft, hard } = requested ?? DEFAULT_OPEN_FILES;
  return [{ type: 'RLIMIT_NOFILE', soft: Math.min(soft, openFiles), hard: Math.min(hard, openFiles) }];
}
