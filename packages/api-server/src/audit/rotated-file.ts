import { appendFile, chmod, rename, stat, truncate } from 'node:fs/promises';
import { errorMessage, isErrno, type Logger, PRIVATE_FILE, pause } from '@podwright/base';

export type RotatedFileParts = {
  path: string;
  /** Size at which the file is rotated to `PATH.1` (and `PATH.1` to `PATH.2`, …). */
  maxBytes?: number;
  /** Maximum number of rotated files; older ones are deleted. */
  maxFiles?: number;
  logger: Pick<Logger, 'warn'>;
};

const MAX_BYTES = 32 << 20;
const MAX_FILES = 3;
/** Maximum total size of lines waiting to be written to disk; further lines are lost. */
const MAX_PENDING_BYTES = 64 << 20;
/** If more bytes are pending, new requests should wait (`room`), but no longer than `MAX_ROOM_MS`, because the disk may hang. */
const BUSY_BYTES = 2 << 20;
const MAX_ROOM_MS = 5000;

/** A size-limited log file that only root can read. If the disk is slow or full, lines are dropped and counted. */
export class RotatedFile {
  readonly #parts: Required<RotatedFileParts>;
  #pending: string[] = [];
  #pendingBytes = 0;
  #sizeBytes: number | undefined;
  #lost = 0;
  #writing: Promise<void> | undefined;

  constructor(parts: RotatedFileParts) {
    this.#parts = { maxBytes: MAX_BYTES, maxFiles: MAX_FILES, ...parts };
  }

  add(line: string): void {
    const bytes = Buffer.byteLength(line) + 1;
    if (this.#pendingBytes + bytes > MAX_PENDING_BYTES) {
      this.#lost += 1;
      return;
    }
    this.#pending.push(`${line}\n`);
    this.#pendingBytes += bytes;
    this.#writing ??= this.#write();
  }

  /** Resolves once the disk has caught up, or after a few seconds. Returns `undefined` if few lines are pending. */
  room(): Promise<void> | undefined {
    if (this.#pendingBytes <= BUSY_BYTES || this.#writing === undefined) return undefined;
    const ended = new AbortController();
    return Promise.race([this.#writing, pause(MAX_ROOM_MS, ended.signal)]).finally(() => ended.abort());
  }

  /** Resolves when all lines have been written to disk. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    await Promise.resolve(); // lines of the same tick are written together
    while (this.#pending.length > 0) {
      const lines = this.#pending;
      this.#pending = [];
      await this.#append(lines.join('')).catch((error: unknown) => {
        this.#sizeBytes = undefined;
        this.#lost += lines.length;
        this.#parts.logger.warn({ path: this.#parts.path, error: errorMessage(error) }, 'write the audit log failed');
      });
      this.#pendingBytes = this.#pending.reduce((sum, line) => sum + Buffer.byteLength(line), 0);
    }
    if (this.#lost > 0) this.#parts.logger.warn({ lost: this.#lost }, 'the audit log lost events');
    this.#lost = 0;
    this.#writing = undefined;
  }

  async #append(text: string): Promise<void> {
    const { path, maxBytes } = this.#parts;
    this.#sizeBytes ??= await sizeOf(path);
    const bytes = Buffer.byteLength(text);
    if (this.#sizeBytes > 0 && this.#sizeBytes + bytes > maxBytes) await this.#rotate();
    await appendFile(path, text, { mode: PRIVATE_FILE }).catch(async (error: unknown) => {
      await truncate(path, this.#sizeBytes).catch(ignoreMissing); // part of a line may have been written
      throw error;
    });
    if (this.#sizeBytes === 0) await chmod(path, PRIVATE_FILE);
    this.#sizeBytes += bytes;
  }

  async #rotate(): Promise<void> {
    const { path, maxFiles } = this.#parts;
    for (let number = maxFiles; number > 0; number--) {
      const from = number === 1 ? path : `${path}.${number - 1}`;
      await rename(from, `${path}.${number}`).catch(ignoreMissing);
    }
    this.#sizeBytes = 0;
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    ignoreMissing(error);
    return 0;
  }
}

function ignoreMissing(error: unknown): void {
  if (!isErrno(error, 'ENOENT')) throw error;
}
