/** The entry point of the bundle: runs `main.ts` with a compile cache. `--version` is answered without loading it. */
import { existsSync } from 'node:fs';
import { enableCompileCache, registerHooks } from 'node:module';
import { VERSION } from '@podwright/base';

const [first = '', ...others] = process.argv.slice(2);
if (['--version', '-V'].includes(first) && others.length === 0) {
  process.stdout.on('error', ({ message }) => {
    console.error(`podwright: write the version: ${message}`);
    process.exitCode = 1;
  });
  process.stdout.write(`${VERSION}\n`);
} else {
  // Node.js never frees what it reads from the cache: 2 MiB, to start a daemon 60 ms faster. So daemons, which run with --expose-gc, do
  // without. A cache that was set for the daemon itself must not be passed on to the programs that it starts.
  if (globalThis.gc === undefined) cacheCompiledCode(`${import.meta.dirname}/cache`);
  else delete process.env.NODE_COMPILE_CACHE;
  findChunksAtOnce();
  await import('./main.ts');
}

/** Resolves the about forty chunks of a command without the many file system calls of Node.js: they are all in this directory. */
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
 * The build creates the directory next to the bundle, writable only for its user, and fills it for its version of Node.js. Another version
 * uses a subdirectory of its own. If the cache is not readable or writable, commands only start more slowly.
 */
function cacheCompiledCode(directory: string): void {
  if (existsSync(directory)) enableCompileCache(directory);
}
