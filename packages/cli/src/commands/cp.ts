import { basename, posix } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { BoundedBytes, errorCode, errorMessage, PodwrightError } from '@podwright/base';
import { inPieces, packTree, unpackInto } from '@podwright/copy';
import { readTar } from '@podwright/images/tar';
import type { Pod } from '@podwright/kube-api';
import { knownKinds } from '../client/known-kinds.ts';
import { kindOfWord } from '../client/object-names.ts';
import { escapeLine, printError } from '../output/terminal-text.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { runInContainer, type StreamTarget } from './container-streams.ts';
import { type CopySide, parseCopySide } from './copy-arguments.ts';
import { podsOfArgument } from './owned-pods.ts';
import { chooseContainer } from './pod-arguments.ts';

export type CpOptions = { namespace: string; container?: string; preserve: boolean };

const MAX_MESSAGE_BYTES = 4 << 10;
/** Maximum number of skipped files reported by name; a container may have any number of links. */
const MAX_SKIPPED_SHOWN = 20;
/** Exit code for a program that is not found, as in shells. */
const NOT_FOUND_EXIT_CODE = 127;

type Remote = Extract<CopySide, { kind: 'remote' }>;

/**
 * `podwright cp POD:PATH PATH`, or in the other direction: copies files and directories using the container's tar, as kubectl does. Also
 * accepts `deploy/NAME:PATH`; kubectl would look for a pod NAME in the namespace `deploy`.
 */
export async function cp(
  { config }: CommandContext,
  { from, to }: { from: string; to: string },
  options: CpOptions,
): Promise<void> {
  const [source, destination] = [parseCopySide(from), parseCopySide(to)];
  const remote = [source, destination].filter((side): side is Remote => side.kind === 'remote');
  if (remote.length !== 1) {
    const what = remote.length === 0 ? `neither "${from}" nor "${to}" is` : `both "${from}" and "${to}" are`;
    throw new PodwrightError('invalid_argument', `cp: ${what} in a pod; one must be POD:PATH, the other a path here`);
  }
  const pod = await podOf(config.apiSocket, remote[0]!, options.namespace);
  const { name: container, note } = chooseContainer(pod, options.container);
  if (note !== undefined) printError(note);
  const target = { socketPath: config.apiSocket, pod, container };
  const skipped = new Skipped();
  if (source.kind === 'remote') await copyFrom(target, { source, destination, skipped });
  else await copyTo(target, { source, destination: destination as Remote, preserve: options.preserve, skipped });
  skipped.report();
}

/** Finds the pod of a copy argument. The qualifier is a type if it names a kind, such as `deploy`; otherwise, it is a namespace. */
async function podOf(socketPath: string, { qualifier, pod: name }: Remote, namespace: string): Promise<Pod> {
  const words = qualifier === undefined ? [name] : [`${qualifier}/${name}`];
  const isType = qualifier === undefined || kindOfWord(qualifier, await knownKinds(socketPath, words)) !== undefined;
  const place = isType ? { argument: words[0]!, namespace } : { argument: name, namespace: qualifier };
  const choice = { namespace: place.namespace, purpose: 'streams' as const };
  return (await podsOfArgument(socketPath, place.argument, choice)).pods[0];
}

type From = { source: Remote; destination: CopySide; skipped: Skipped };

async function copyFrom(target: StreamTarget, { source, destination, skipped }: From): Promise<void> {
  const path = posix.normalize(source.path);
  const base = posix.basename(path);
  const named = !['', '.', '..'].includes(base);
  const [directory, entry] = named ? [posix.dirname(path), base] : [path, '.'];
  const archive = new PassThrough();
  const left = new AbortController();
  const stderr = new BoundedBytes(MAX_MESSAGE_BYTES);
  const command = ['tar', '-cf', '-', '-C', directory, `./${entry}`];
  const tar = runInContainer(target, { command, stdout: archive, stderr, signal: left.signal }).finally(() =>
    archive.end(),
  );
  tar.catch((error: unknown) => archive.destroy(error as Error));
  const unpacked = unpackInto(readTar(archive), {
    base: entry,
    destination: destination.path,
    onSkipped: (message) => skipped.add(message),
  });
  // if the archive ends early, stop tar in the container and report tar's error, which says more
  unpacked.catch(() => left.abort());
  const [exit, written] = await Promise.allSettled([tar, unpacked]);
  if (exit.status === 'fulfilled') checkTar(target, { exitCode: exit.value, stderr });
  if (written.status === 'rejected') throw copyError(source.text, written.reason);
  if (exit.status === 'rejected') throw exit.reason;
}

type To = { source: CopySide; destination: Remote; preserve: boolean; skipped: Skipped };

async function copyTo(target: StreamTarget, { source, destination, preserve, skipped }: To): Promise<void> {
  const path = posix.normalize(destination.path);
  const into = await isDirectory(target, path);
  const name = into ? basename(posix.resolve(source.path)) : posix.basename(path);
  const directory = into ? path : posix.dirname(path);
  const owner = preserve ? [] : ['--no-same-permissions', '--no-same-owner'];
  const stderr = new BoundedBytes(MAX_MESSAGE_BYTES);
  const left = new AbortController();
  const packed = packTree({ path: source.path, name, onSkipped: (message) => skipped.add(message) });
  const stdin = Readable.from(inPieces(packed), { objectMode: false });
  stdin.once('error', (error) => left.abort(error));
  try {
    const command = ['tar', ...owner, '-xmf', '-', '-C', directory];
    const exitCode = await runInContainer(target, { command, stdin, stderr, signal: left.signal });
    checkTar(target, { exitCode, stderr });
  } catch (error) {
    throw copyError(`${source.path} to ${destination.text}`, error);
  } finally {
    stdin.destroy();
  }
}

/** Whether a path in the container is a directory. Returns false if the container has no `test` program; tar then reports any problem. */
async function isDirectory(target: StreamTarget, path: string): Promise<boolean> {
  const stderr = new BoundedBytes(MAX_MESSAGE_BYTES);
  return (await runInContainer(target, { command: ['test', '-d', path], stderr })) === 0;
}

function checkTar(
  { pod, container }: StreamTarget,
  { exitCode, stderr }: { exitCode: number; stderr: BoundedBytes },
): void {
  if (exitCode === 0) return;
  const { name } = pod.metadata;
  if (exitCode === NOT_FOUND_EXIT_CODE) {
    const message = `container ${container} of pod ${name} has no tar, which cp needs; copy single files with 'podwright exec ${name} -c ${container} -- cat PATH'`;
    throw new PodwrightError('failed_precondition', message);
  }
  const output = escapeLine(stderr.bytes().toString('utf8').trim().replaceAll('\n', '; '));
  throw new PodwrightError(
    'internal',
    `tar in container ${container} of pod ${name}: ${output || `exit code ${exitCode}`}`,
  );
}

/** Builds an error from the system's message, leaving out the error code, syscall and path added by Node.js. */
function copyError(what: string, cause: unknown): PodwrightError {
  const reason = errorMessage(cause).replace(/^E[A-Z0-9]+: (.+?), \w+(?: '.*')?$/s, '$1');
  return new PodwrightError(errorCode(cause), escapeLine(`copy ${what}: ${reason}`));
}

/** Reports and counts files that were not copied. */
class Skipped {
  #count = 0;

  add(message: string): void {
    if (++this.#count <= MAX_SKIPPED_SHOWN) printError(`podwright: ${escapeLine(message)}`); // a file name may contain a line feed
  }

  report(): void {
    const more = this.#count - MAX_SKIPPED_SHOWN;
    if (more > 0) printError(`podwright: skipped ${more} more`);
  }
}
