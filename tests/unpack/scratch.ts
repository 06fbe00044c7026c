import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** A directory for one test, under /var/tmp, where the file system supports all types of extended attributes. */
export class Scratch implements Disposable {
  readonly path = mkdtempSync(join(process.env.PODWRIGHT_TEST_DIR ?? '/var/tmp', 'podwright-unpack-'));

  directory(name: string): string {
    const path = join(this.path, name);
    mkdirSync(path);
    return path;
  }

  at(name: string): string {
    return join(this.path, name);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
