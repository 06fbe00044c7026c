/** Saves assigned and registered devices to the checkpoint file. */
import { join } from 'node:path';
import { CoalescedWork, errorMessage, type Logger, PodwrightError } from '@podwright/base';
import { type DeviceRecords, readDeviceRecords, writeDeviceRecords } from './device-checkpoint.ts';
import type { KnownDevices } from './known-devices.ts';

/** Name of the checkpoint file, the same as upstream's (kubeletDeviceManagerCheckpoint). */
const CHECKPOINT = 'kubelet_internal_checkpoint';

type Input = {
  directory: string;
  known: Pick<KnownDevices, 'inventory' | 'assignments'>;
  isNew: boolean;
  logger: Logger;
};

/** Reads the checkpoint of an earlier kubelet; `undefined` if there is none. A corrupt checkpoint is logged and ignored. */
export async function readSavedDevices(directory: string, logger: Logger): Promise<DeviceRecords | undefined> {
  return await readDeviceRecords(join(directory, CHECKPOINT)).catch((error: unknown) => {
    logger.error({ error: errorMessage(error) }, 'cannot read the device checkpoint: assigned devices are unknown');
    return { assignments: [], registered: {} };
  });
}

export class SavedDevices {
  readonly #input: Input;
  #isNew: boolean;
  /** Writes the checkpoint. Calls during a write are coalesced into the next one, because plugins may send device lists at any rate. */
  readonly #writing = new CoalescedWork(() => this.#write());

  /** `isNew`: whether the directory has no checkpoint. */
  constructor(input: Input) {
    this.#input = input;
    this.#isNew = input.isNew;
  }

  /** Whether no checkpoint exists yet, which means that the node is new. */
  get isNew(): boolean {
    return this.#isNew;
  }

  /** Writes the checkpoint. Rejects with upstream's message: a container must not start with devices that are not on record. */
  save(): Promise<void> {
    return this.#writing.run();
  }

  /** Writes the checkpoint on a best-effort basis: a failure is logged, and the next change triggers another write. */
  async saveOrLog(): Promise<void> {
    await this.save().catch((error: unknown) => {
      this.#input.logger.error({ error: errorMessage(error) }, 'cannot write the device checkpoint');
    });
  }

  /** Resolves when all pending writes have finished. */
  settled(): Promise<void> {
    return this.#writing.settled();
  }

  async #write(): Promise<void> {
    const { directory, known } = this.#input;
    const { inventory, assignments } = known;
    const healthyIds = (resource: string) => inventory.healthy(resource).map(({ id }) => id);
    const registered = Object.fromEntries(inventory.resources().map((name) => [name, healthyIds(name)]));
    this.#isNew = false;
    const records = { assignments: assignments.all(), registered };
    await writeDeviceRecords(join(directory, CHECKPOINT), records).catch((error: unknown) => {
      const why = `failed to write checkpoint file "${CHECKPOINT}": ${errorMessage(error)}`;
      throw new PodwrightError('unavailable', why, { cause: error });
    });
  }
}
