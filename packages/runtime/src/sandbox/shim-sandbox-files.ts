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
  /** A process in the sandbox's namespaces, as the shim reports it; absent before it has started, or if there is none. */
  pid: z.number().optional(),
});

/** What is remembered of a shim's sandbox: enough to end it, whatever handlers are configured by then. */
export type ShimSandboxRecord = z.infer<typeof sandboxSchema>;

/** The bundles of shims' sandboxes; a sandbox has one from before its shim is started until nothing of it is left. */
export class ShimSandboxFiles {
  readonly #shims: Shims;

  constructor(shims: Shims) {
    this.#shims = shims;
  }

  /** Makes the bundle. Its `config.json` has only what shims look for in it to know the pod. */
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

  /** Undefined if the shim was never to be started, or everything is gone; `data_loss` if the record is damaged. */
  async read(sandboxId: string): Promise<ShimSandboxRecord | undefined> {
    return await readRecord(this.#record(sandboxId), sandboxSchema);
  }

  /** Ids of the sandboxes that have a record. */
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
