import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PRIVATE_DIRECTORY, PRIVATE_FILE } from '@podwright/base';
import type { Shims } from '@podwright/shim';
import * as z from 'zod';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import { readRecord, shimProgramSchema, writeRecord } from '../tasks/shim/record-file.ts';
import { infraAnnotations } from './infra-spec.ts';

const sandboxSchema = z.object({
  program: shimProgramSchema,
  /**
   * PID of a process in the sandbox's namespaces, as reported by the shim. Absent if the sandbox has not started yet, or if the shim
   * reports none.
   */
  pid: z.number().optional(),
});

/** The record of a sandbox managed by a shim. Sufficient for stopping the sandbox, regardless of the currently configured handlers. */
export type ShimSandboxRecord = z.infer<typeof sandboxSchema>;

/**
 * The bundles of sandboxes managed by shims. A bundle is created before the shim starts and exists until nothing is left of the sandbox.
 */
export class ShimSandboxFiles {
  readonly #shims: Shims;

  constructor(shims: Shims) {
    this.#shims = shims;
  }

  /** Creates the bundle. Its `config.json` contains only the annotations that identify the pod to shims. */
  async make(sandbox: SandboxRecord, record: ShimSandboxRecord): Promise<string> {
    const bundle = this.#shims.bundle(sandbox.id);
    await mkdir(bundle, { mode: PRIVATE_DIRECTORY });
    await this.write(sandbox.id, record);
    const spec = { ociVersion: '1.0.2', annotations: infraAnnotations(sandbox) };
    await writeFile(join(bundle, 'config.json'), JSON.stringify(spec), { mode: PRIVATE_FILE });
    return bundle;
  }

  async write(sandboxId: string, record: ShimSandboxRecord): Promise<void> {
    await writeRecord(this.#record(sandboxId), record);
  }

  /**
   * Returns a sandbox's record; undefined if its shim was never started or everything has been removed. Throws `data_loss` if the record is
   * damaged.
   */
  async read(sandboxId: string): Promise<ShimSandboxRecord | undefined> {
    return await readRecord(this.#record(sandboxId), sandboxSchema);
  }

  /** Returns the IDs of the shim-managed sandboxes that have a record. */
  async list(): Promise<string[]> {
    return (await this.#shims.ids()).filter((id) => existsSync(this.#record(id)));
  }

  async remove(sandboxId: string): Promise<void> {
    const bundle = this.#shims.bundle(sandboxId);
    this.#shims.forget(bundle);
    await rm(bundle, { recursive: true, force: true });
  }

  #record(sandboxId: string): string {
    return join(this.#shims.bundle(sandboxId), 'sandbox.json');
  }
}
