/** The entry of the bundle: what is in `main.ts`, compiled from a cache, and the version without even that. */
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
  // Node.js keeps what it reads of it for good, 2 MiB for 60 ms of a daemon's start: daemons, which have a flag for this, do without,
  // unless they are begun with one, which is not for the programs that they start.
  if (globalThis.gc === undefined) cacheCompiledCode(`${import.meta.dirname}/cache`);
  else delete process.env.NODE_COMPILE_CACHE;
  findChunksAtOnce();
  await import('./main.ts');
}

/** A command has some forty chunks, all beside this one: Node.js would ask the file system about each of them and of its directories. */
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
 * The build makes the directory beside the bundle, for its user alone, and fills it for its Node.js; another version fills a place
 * of its own there. Where it cannot be read or written, commands only start later.
 */
function cacheCompiledCode(directory: string): void {
  if (existsSync(directory)) enableCompileCache(directory);
}
