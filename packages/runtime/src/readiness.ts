import { access, constants } from 'node:fs/promises';
import { errorMessage, wrapError } from '@podwright/base';
import { checkWritable, type MetadataDatabase } from '@podwright/metadata';

/**
 * Whether pods with the default runtime handler can currently run, network aside. `reason` and `message` explain why not, or contain a
 * notice.
 */
export type Readiness =
  | { ready: true; reason?: string; message?: string }
  | { ready: false; reason: string; message: string };

export type ReadinessDependencies = {
  /**
   * Paths of the programs needed by every pod with the default runtime handler: the OCI runtime and conmon, or the shim. They have already
   * been tried at startup.
   */
  programs: string[];
  database: MetadataDatabase;
};

/** Checks that the programs still exist and that records can be written. Cheap enough for every Status call. */
export async function runtimeReadiness({ programs, database }: ReadinessDependencies): Promise<Readiness> {
  try {
    await Promise.all(programs.map(checkProgram));
    checkWritable(database);
    return { ready: true };
  } catch (error) {
    return { ready: false, reason: 'RuntimeNotReady', message: errorMessage(error) };
  }
}

async function checkProgram(path: string): Promise<void> {
  await access(path, constants.X_OK).catch((error) => {
    throw wrapError(`find ${path}, which runs pods`, error);
  });
}
