import { type FSWatcher, watch } from 'node:fs';
import { chmod, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import { AnySchema } from '@bufbuild/protobuf/wkt';
import { errorMessage, type Logger, makePrivateDirectory, PRIVATE_DIRECTORY } from '@podwright/base';
import { namesIn, writeFileAtomic } from '@podwright/host';
import { MAX_EVENT_BYTES } from './limits.ts';
import type { ShimEvents } from './shim-events.ts';

/**
 * The publish program. Shims that do not send events over ttrpc run it once per event as `PROGRAM --address A publish --topic T --namespace
 * N`, with the event on stdin. It stores the event atomically in a directory, so it also works while the runtime is not running.
 */
const program = (spool: string) => `#!/bin/sh
set -eu
file=$(mktemp '${spool}/.event.XXXXXX')
trap 'rm -f "$file"' EXIT
cat > "$file"
mv "$file" "\${file%/.event.*}/event.\${file##*.}"
trap - EXIT
`;

/** Reads the events that shims have stored using the publish program. */
export class PublishSpool {
  /** Path of the publish program. */
  readonly program: string;
  readonly #directory: string;
  readonly #events: ShimEvents;
  readonly #logger: Logger;
  readonly #watcher: FSWatcher;
  #turn = Promise.resolve();

  private constructor(options: { directory: string; events: ShimEvents; logger: Logger }) {
    this.#directory = options.directory;
    this.#events = options.events;
    this.#logger = options.logger;
    this.program = programPath(options.directory);
    this.#watcher = watch(options.directory, () => this.#look());
    this.#look();
  }

  /** Creates the spool in `directory`, which must not be used for anything else. */
  static async open(options: { directory: string; events: ShimEvents; logger: Logger }): Promise<PublishSpool> {
    makePrivateDirectory(options.directory);
    const path = programPath(options.directory);
    await writeFileAtomic(path, program(options.directory.replaceAll("'", `'\\''`)));
    await chmod(path, PRIVATE_DIRECTORY);
    return new PublishSpool(options);
  }

  close(): void {
    this.#watcher.close();
  }

  #look(): void {
    this.#turn = this.#turn.then(() => this.#take()).catch((error) => this.#warn(error));
  }

  async #take(): Promise<void> {
    const names = await namesIn(this.#directory);
    for (const name of names.filter((name) => name.startsWith('event.'))) {
      const path = join(this.#directory, name);
      try {
        if ((await stat(path)).size <= MAX_EVENT_BYTES)
          this.#events.publish(name, fromBinary(AnySchema, await readFile(path)));
      } catch (error) {
        this.#warn(error, name);
      }
      await rm(path, { force: true });
    }
  }

  #warn(error: unknown, event?: string): void {
    this.#logger.warn({ directory: this.#directory, event, error: errorMessage(error) }, "read a shim's event");
  }
}

const programPath = (directory: string) => join(directory, 'publish');
