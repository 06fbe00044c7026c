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
  /** A process in the sandbox's namespaces, as reported by the shim. Absent before the sandbox has started, or if the shim reports none. */
  pid: z.number().optional(),
});

/** The record of a shim's sandbox. It is enough to stop the sandbox, whatever handlers are configured then. */
export type ShimSandboxRecord = z.infer<typeof sandboxSchema>;

/** The bundles of shims' sandboxes. A bundle exists from before the shim starts until nothing of the sandbox remains. */
export class ShimSandboxFiles {
  readonly #shims: Shims;

  constructor(shims: Shims) {
    this.#shims = shims;
  }

  /** Creates the bundle. Its `config.json` has only the annotations from which shims identify the pod. */
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
   * The record of a sandbox. Undefined if its shim was never started, or everything is removed. Throws `data_loss` if the record is
   * damaged.
   */
  async read(sandboxId: string): Promise<ShimSandboxRecord | undefined> {
    return await readRecord(this.#record(sandboxId), sandboxSchema);
  }

  /** Ids of the sandboxes with a record. */
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
