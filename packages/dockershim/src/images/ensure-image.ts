import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { errorCode, errorMessage, PodwrightError, SharedWork, wrapError } from '@podwright/base';
import { findProgram } from '@podwright/host';
import { unlessNotFound } from '../engine/unless-not-found.ts';
import type { DockershimServices } from '../services.ts';
import { hostCredentials } from './host-credentials.ts';
import { oneFileArchive } from './one-file-archive.ts';
import { pullImage } from './pull-image.ts';
import { formatReference, type ImageReference, parseReference } from './reference.ts';

type Needs = Pick<DockershimServices, 'engine' | 'options' | 'logger'>;

/** Static programs on the host that can serve as the pause process, in order of preference. */
const PAUSES = ['catatonit', 'busybox'] as const;

/** A second name for locally built images, to show their origin. */
const MADE_NAME = 'podwright.local/pause';

/**
 * Returns a function that ensures that a sandbox image is present. It pulls the image with the credentials of the host's root user or, if
 * no registry answers, builds it under the same name from the host's catatonit or busybox. Concurrent calls for the same image are
 * coalesced.
 */
export function imageEnsurer(
  services: Needs,
  { home = homedir() }: { home?: string } = {},
): (reference: string, signal: AbortSignal) => Promise<void> {
  const work = new SharedWork();
  return async (text, signal) => {
    const reference = parseReference(text);
    const key = { key: `ensure image ${formatReference(reference)}` };
    await work.run(key, signal, (abandoned) => ensureImage(services, { reference, home }, abandoned));
  };
}

type Wanted = { reference: ImageReference; home: string };

async function ensureImage(services: Needs, wanted: Wanted, signal: AbortSignal): Promise<void> {
  const { engine, logger } = services;
  const image = formatReference(wanted.reference);
  if ((await unlessNotFound(engine.images.inspect(image, signal))) !== undefined) return;
  try {
    return await pull(services, wanted, signal);
  } catch (error) {
    signal.throwIfAborted();
    const { name, version } = wanted.reference;
    if (!mayBeBuilt(error) || !('tag' in version)) throw error;
    const program = await makeImage(services, { name, tag: version.tag }, signal).catch((failure) => {
      throw wrapError(`${errorMessage(error)}; and it cannot be built locally`, failure, errorCode(error));
    });
    logger.warn(
      { image, program, error: errorMessage(error) },
      'sandbox image built from a program of the host: no registry answers',
    );
  }
}

/**
 * Whether this pull error allows the image to be built locally. It does not if a registry has rejected the image's name or the credentials.
 */
function mayBeBuilt(error: unknown): boolean {
  return ['unavailable', 'deadline_exceeded', 'unknown'].includes(errorCode(error));
}

/** Pulls the image, trying each of the host's matching credentials until one succeeds. */
async function pull(services: Needs, { reference, home }: Wanted, signal: AbortSignal): Promise<void> {
  const known = await hostCredentials(join(home, '.docker/config.json'), reference.name);
  let failure: unknown;
  for (const credentials of known.length > 0 ? known : [undefined]) {
    try {
      return void (await pullImage(services, { reference, credentials }, signal));
    } catch (error) {
      signal.throwIfAborted();
      failure ??= error;
    }
  }
  throw failure;
}

/** Returns the command of the pause process. It reaps orphans, because it is the init process of pods that share a PID namespace. */
export function pauseCommand(program: (typeof PAUSES)[number], path: string): string[] {
  if (program === 'catatonit') return [path, '-P'];
  // while the shell waits for its child, it also reaps any orphans
  return [path, 'sh', '-c', `trap 'kill $!; exit 0' TERM INT; while :; do ${path} sleep 2147483647 & wait; done`];
}

/** Builds the sandbox image from the first of the `PAUSES` programs installed on the host, and returns that program's path. */
async function makeImage(
  { engine }: Needs,
  { name, tag }: { name: string; tag: string },
  signal: AbortSignal,
): Promise<string> {
  for (const program of PAUSES) {
    const path = findProgram(program);
    if (path === undefined) continue;
    const archive = oneFileArchive(program, await readFile(path));
    const change = `ENTRYPOINT ${JSON.stringify(pauseCommand(program, `/${program}`))}`;
    await engine.archives.import(Readable.from([archive]), { name: MADE_NAME, tag, change }, signal);
    await engine.archives.tag(`${MADE_NAME}:${tag}`, { repository: name, tag }, signal);
    return path;
  }
  throw new PodwrightError('failed_precondition', `the host has neither ${PAUSES.join(' nor ')}; install catatonit`);
}
