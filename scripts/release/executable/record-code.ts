/**
 * Runs a command from a directory of chunks, using the compiled code in another directory, and writes the code compiled by V8 back to it:
 * `node record-code.ts CHUNKS CODE ARGUMENT…`. Must run on the executable's Node.js version with its flags, because V8 rejects code
 * compiled otherwise.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Script } from 'node:vm';
import { chunkLoader } from './chunk-loader.ts';

const [chunks = '', code = ''] = process.argv.splice(2, 2);
const compiled = new Map<string, Script>();
const fileOf = (name: string) => join(code, `${name}.code`);
process.on('exit', () => {
  for (const [name, script] of compiled) writeFileSync(fileOf(name), script.createCachedData());
});
const load = chunkLoader({
  source: (name) => readFileSync(join(chunks, name), 'latin1'),
  code: (name) => (existsSync(fileOf(name)) ? readFileSync(fileOf(name)) : undefined),
  native: (name) => {
    throw new Error(`a command that is run to compile its code needs ${name}`);
  },
  onCompiled: (name, script) => compiled.set(name, script),
});
const { main } = load('podwright.js') as { main: () => Promise<void> };
await main();
