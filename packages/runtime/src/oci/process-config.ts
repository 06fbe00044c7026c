import { posix } from 'node:path';
import { PodwrightError } from '@podwright/base';
import type { ImageConfig } from '@podwright/images';
import type { OpenFilesLimit } from '../options.ts';
import type { OciProcess } from './spec.ts';
import type { SpecHost } from './spec-input.ts';

type ImageDefaults = ImageConfig['config'];

/** The search path of an image that names none. */
const DEFAULT_PATH = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** What systemd gives services, and by that containerd 2, CRI-O and Docker give containers. */
const DEFAULT_OPEN_FILES: OpenFilesLimit = { soft: 1024, hard: 524_288 };

/**
 * The command line of a container: a command of its own replaces the image's Entrypoint and with it the image's Cmd;
 * arguments alone replace Cmd. An Entrypoint of one empty word is none, as Docker and containerd have it. `invalid_argument` if
 * there is nothing to run.
 */
export function computeArgs(asked: { command: string[]; args: string[] }, image: ImageDefaults): string[] {
  const { Entrypoint = [] } = image;
  const entrypoint = Entrypoint.length === 1 && Entrypoint[0] === '' ? [] : Entrypoint;
  const command = asked.command.length > 0 ? asked.command : entrypoint;
  const useImageArgs = asked.command.length === 0 && asked.args.length === 0;
  const args = [...command, ...(useImageArgs ? (image.Cmd ?? []) : asked.args)];
  if (args.length === 0)
    throw new PodwrightError('invalid_argument', 'no command specified: neither the container nor its image has one');
  if (args[0] === '')
    throw new PodwrightError('invalid_argument', 'the first word of the command is empty: it names no program to run');
  return args;
}

/** What a container's environment is made from; later ones win over earlier ones. */
export type EnvironmentSources = {
  image: ImageDefaults;
  /** Host name of the pod, for HOSTNAME; '' for none. */
  hostname: string;
  terminal: boolean;
  asked: { name: string; value: string }[];
};

/**
 * `NAME=value` in order of first appearance: a search path, TERM with a terminal, HOSTNAME, the image's, those asked for. A
 * name alone takes the variable away, as with Docker and containerd; what has no name is left out, as newer runc refuses it.
 */
export function computeEnvironment({ image, hostname, terminal, asked }: EnvironmentSources): string[] {
  const all = [
    DEFAULT_PATH,
    ...(terminal ? ['TERM=xterm'] : []),
    ...(hostname === '' ? [] : [`HOSTNAME=${hostname}`]),
    ...(image.Env ?? []),
    ...asked.map(({ name, value }) => `${name}=${value}`),
  ];
  const merged = new Map<string, string>();
  for (const entry of all) {
    const end = entry.indexOf('=');
    if (end > 0) merged.set(entry.slice(0, end), entry);
    else if (end < 0) merged.delete(entry);
  }
  return [...merged.values()];
}

/** Where the command starts: `asked`, or the image's, or the root. The OCI runtime makes the directory if it is missing. */
export function computeWorkingDirectory(asked: string, image: ImageDefaults): string {
  return posix.resolve('/', asked || image.WorkingDir || '/');
}

/**
 * The limit of open files, which bounds what a process takes of the kernel's memory by sockets. Without it a container would have
 * this process's own, whose soft limit Node.js has raised: some programs close every number up to it at each start.
 */
export function computeRlimits(
  asked: OpenFilesLimit | undefined,
  { openFiles }: Pick<SpecHost, 'openFiles'>,
): NonNullable<OciProcess['rlimits']> {
  const { soft, hard } = asked ?? DEFAULT_OPEN_FILES;
  return [{ type: 'RLIMIT_NOFILE', soft: Math.min(soft, openFiles), hard: Math.min(hard, openFiles) }];
}
