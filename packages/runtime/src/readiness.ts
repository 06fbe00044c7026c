import { access, constants } from 'node:fs/promises';
import { errorMessage, wrapError } from '@podwright/base';
import { checkWritable, type MetadataDatabase } from '@podwright/metadata';

/** Whether pods of the default runtime handler can be run now, the network aside, and if not, why; what is ready may have something to report. */
export type Readiness =
  | { ready: true; reason?: string; message?: string }
  | { ready: false; reason: string; message: string };

export type ReadinessDependencies = {
  /** Paths of what every such pod needs: its OCI runtime and monitor, or its shim. That they work was tried at the start. */
  programs: string[];
  database: MetadataDatabase;
};

/** Looks that the programs are still there and that records can be written; cheap enough for every Status call. */
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
    throw wrapError(`find ${path}, which pods are run with`, error);
  });
}
