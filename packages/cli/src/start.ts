/** The bundle's entry point: runs `main.ts` with a compile cache. `--version` is answered without loading `main.ts`. */
import { existsSync } from 'node:fs';
import { enableCompileCache, registerHooks } from 'node:module';
import { usesFastStart } from './settings/fast-start.ts';
import { isVersionCall, printVersion } from './version-call.ts';

const args = process.argv.slice(2);
if (isVersionCall(args)) printVersion();
else {
  // A process is a daemon if it runs with --expose-gc. NODE_COMPILE_CACHE is then meant only for the daemon itself, and must not be passed
  // on to the programs that it starts.
  const isDaemon = globalThis.gc !== undefined;
  if (isDaemon) delete process.env.NODE_COMPILE_CACHE;
  if (usesFastStart(args)) await startFast(isDaemon);
  const { main } = await import('./main.ts');
  await main();
}

/**
 * Daemons start without the compile cache: it would save them only 60 ms and cost 2 MiB, because Node.js never frees what it reads from the
 * cache.
 */
async function startFast(isDaemon: boolean): Promise<void> {
  if (isDaemon) (await import('./daemon/daemon-flags.ts')).resetFlags();
  else cacheCompiledCode(`${import.meta.dirname}/cache`);
  findChunksAtOnce();
}

/**
 * Resolves imports of the bundle's chunks, all in this directory, without the many file system calls made by Node.js. A command imports
 * roughly forty of them.
 */
function findChunksAtOnce(): void {
  const here = new URL('.', import.meta.url).href;
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier.startsWith('./chunk-')
        ? { url: here + specifier.slice(2), format: 'module', shortCircuit: true }
        : next(specifier, context),
  });
}

/**
 * Enables the compile cache. The build creates the cache directory next to the bundle, writable only by its user, and fills it for its own
 * version of Node.js. Other versions use their own subdirectories. If the cache is not readable or writable, commands are merely slower to
 * start.
 */
function cacheCompiledCode(directory: string): void {
  if (existsSync(directory)) enableCompileCache(directory);
}
