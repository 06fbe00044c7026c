import { openSync, readdirSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

/**
 * Keeps the bundle's files open, so that this process can load the remaining parts of its own build even if they have been removed or
 * replaced: an open file survives its removal. Chunk names contain a hash of their contents, so an open chunk always belongs to this build.
 */
export function holdProgram(directory: URL): void {
  const files = new Map(
    chunksIn(directory).map((name) => [new URL(name, directory).href, openSync(new URL(name, directory), 'r')]),
  );
  if (files.size === 0) return; // a node started from its sources has no bundle
  registerHooks({
    resolve: (specifier, context, next) => {
      const url = URL.parse(specifier, context.parentURL)?.href;
      return url !== undefined && files.has(url)
        ? { url, format: 'module', shortCircuit: true }
        : next(specifier, context);
    },
    load: (url, context, next) => {
      const file = files.get(url);
      if (file === undefined) return next(url, context);
      return { format: 'module', source: readFileSync(`/proc/self/fd/${file}`), shortCircuit: true };
    },
  });
}

function chunksIn(directory: URL): string[] {
  return readdirSync(directory).filter((name) => /^chunk-\w+\.js$/.test(name));
}
