import { open, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { errorMessage, isErrno, type Logger, makePrivateDirectory, PodwrightError } from '@podwright/base';
import { namesIn, writeFileDurable } from '@podwright/host';
import { MAX_CHECKPOINT_BYTES } from '../limits.ts';
import { decodeCheckpoint, encodeCheckpoint, type SandboxCheckpoint } from './checkpoint.ts';

const SUFFIX = '.json';

/** Whether the text is a full container ID, and thus safe to use in a path. */
export function isSandboxId(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

/**
 * Stores sandbox checkpoints on disk. Each sandbox has a checkpoint file, and a directory for other files. Corrupt checkpoints are removed,
 * and their paths are logged.
 */
export class CheckpointStore {
  readonly #directory: string;
  readonly #logger: Logger;

  /** Creates `directory` if needed. */
  constructor(directory: string, logger: Logger) {
    this.#directory = directory;
    this.#logger = logger;
    makePrivateDirectory(directory);
  }

  /** Writes a sandbox's checkpoint atomically. */
  async write(id: string, checkpoint: SandboxCheckpoint): Promise<void> {
    await writeFileDurable(this.#path(id), encodeCheckpoint(checkpoint));
  }

  /** Returns a sandbox's checkpoint, or `undefined` if there is none or it is corrupt. */
  async read(id: string): Promise<SandboxCheckpoint | undefined> {
    if (!isSandboxId(id)) return undefined;
    const path = this.#path(id);
    try {
      return decodeCheckpoint(await readBounded(path));
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return undefined;
      if (!(error instanceof PodwrightError)) throw error;
      this.#logger.warn({ path, error: errorMessage(error) }, 'removed a sandbox checkpoint that is corrupt');
      await rm(path, { force: true });
      return undefined;
    }
  }

  /** Returns the path of the directory for the sandbox's files. The caller must create it. */
  filesOf(id: string): string {
    return this.#path(id).slice(0, -SUFFIX.length);
  }

  /** Removes the sandbox's files and then its checkpoint. Succeeds if there are none. */
  async remove(id: string): Promise<void> {
    if (!isSandboxId(id)) return;
    await rm(this.filesOf(id), { recursive: true, force: true });
    await rm(this.#path(id), { force: true });
  }

  /** Returns the IDs of all sandboxes that have files or a checkpoint, even an unreadable one. */
  async ids(): Promise<string[]> {
    const names = await namesIn(this.#directory);
    return [...new Set(names.map((name) => basename(name, SUFFIX)))].filter(isSandboxId);
  }

  /** Removes temporary files left behind by interrupted writes. Must not run concurrently with a write. */
  async sweep(): Promise<void> {
    const leftover = (await namesIn(this.#directory)).filter((name) => name.endsWith('.tmp'));
    for (const name of leftover) await rm(join(this.#directory, name), { force: true });
  }

  #path(id: string): string {
    if (!isSandboxId(id))
      throw new PodwrightError('invalid_argument', `${JSON.stringify(id)} is not the id of a sandbox`);
    return join(this.#directory, id + SUFFIX);
  }
}

async function readBounded(path: string): Promise<string> {
  const file = await open(path);
  try {
    const status = await file.stat();
    if (!status.isFile() || status.size > MAX_CHECKPOINT_BYTES)
      throw new PodwrightError('data_loss', `not a regular file of at most ${MAX_CHECKPOINT_BYTES} bytes`);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}
