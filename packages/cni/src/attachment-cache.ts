import { existsSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno, PodwrightError, PRIVATE_DIRECTORY } from '@podwright/base';
import { writeFileAtomic } from '@podwright/host';
import * as z from 'zod';
import type { Attachment } from './attachment.ts';
import type { NetworkList } from './network-list.ts';

/** The record of an attachment: the configuration and parameters of its ADD, and the result, which is null until ADD has succeeded. */
export type AttachmentRecord = {
  network: NetworkList;
  attachment: Attachment;
  result: Record<string, unknown> | null;
};

export type AttachmentKey = { containerId: string; ifName: string };

const json = z.record(z.string(), z.unknown());
const pluginSchema = z.object({
  type: z.string(),
  capabilities: z.array(z.string()),
  ipamType: z.string().optional(),
  config: json,
});
const recordSchema = z.object({
  format: z.literal(1),
  network: z.object({
    name: z.string(),
    cniVersion: z.string(),
    cniVersions: z.array(z.string()),
    disableCheck: z.boolean(),
    disableGC: z.boolean(),
    loadOnlyInlinedPlugins: z.boolean(),
    plugins: z.array(pluginSchema),
  }),
  attachment: z.object({
    containerId: z.string(),
    ifName: z.string(),
    netnsPath: z.string(),
    args: z.array(z.tuple([z.string(), z.string()])),
    capabilityArgs: json,
  }),
  result: json.nullable(),
});

/** Stores attachment records on disk, one file each. DEL and CHECK need them, even after a restart or a reboot. */
export class AttachmentCache {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async write(record: AttachmentRecord): Promise<void> {
    const path = this.#path(record.attachment);
    const text = JSON.stringify({ format: 1, ...record });
    try {
      await writeFileAtomic(path, text);
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) throw error;
      await mkdir(this.#directory, { recursive: true, mode: PRIVATE_DIRECTORY });
      await writeFileAtomic(path, text);
    }
  }

  has(key: AttachmentKey): boolean {
    return existsSync(this.#path(key));
  }

  /** Reads a record. Returns `undefined` if there is none. Throws `data_loss` if it is unreadable, for example after a power failure. */
  read(key: AttachmentKey): AttachmentRecord | undefined {
    let text: string;
    try {
      text = readFileSync(this.#path(key), 'utf8');
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return undefined;
      throw error;
    }
    try {
      return recordSchema.parse(JSON.parse(text));
    } catch (error) {
      const message = `the record of the attachment ${this.#path(key)} is damaged`;
      throw new PodwrightError('data_loss', message, { cause: error });
    }
  }

  delete(key: AttachmentKey): void {
    rmSync(this.#path(key), { force: true });
  }

  /** Returns the keys of all attachment records, including damaged ones. */
  async list(): Promise<AttachmentKey[]> {
    try {
      const names = await readdir(this.#directory);
      return names.flatMap((name) => parseFileName(name) ?? []);
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return [];
      throw error;
    }
  }

  /**
   * Returns the path of an attachment's record, `CONTAINERID@INTERFACE.json`. Container IDs contain no `@`, so the first `@` ends the ID.
   */
  #path({ containerId, ifName }: AttachmentKey): string {
    return join(this.#directory, `${containerId}@${ifName}.json`);
  }
}

function parseFileName(name: string): AttachmentKey | undefined {
  const match = /^([^@]+)@(.+)\.json$/.exec(name);
  return match === null ? undefined : { containerId: match[1]!, ifName: match[2]! };
}
