import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';

/** A new directory for one test. Not below /tmp of some hosts only: overlayfs needs a real file system there. */
export function makeScratch(): string {
  return mkdtempSync(join(process.env.PODWRIGHT_TEST_DIR ?? '/var/tmp', 'podwright-snapshots-'));
}
