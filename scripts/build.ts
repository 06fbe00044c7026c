/** Bundles the `podwright` command and the worker that unpacks layers: `node scripts/build.ts [DIRECTORY]` (default `dist`). */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PRIVATE_DIRECTORY } from '../packages/base/src/modes.ts';
import { DAEMON_FLAGS, DEFAULT_FLAGS } from '../packages/cli/src/daemon/daemon-flags.ts';
import { bundle } from './bundle.ts';
import { COMMANDS } from './compiled-commands.ts';
import { writePage } from './dashboard-page.ts';

const outdir = process.argv[2] ?? 'dist';
/** Exits with a one-line message on an older Node.js. Uses globalThis, because a bundled file may declare its own `process`. */
const requireNode =
  "if (((v) => v[0] < 22 || (v[0] == 22 && v[1] < 22))(globalThis.process.version.slice(1).split('.').map(Number))) { console.error('podwright: needs Node.js 22.22 or later, found ' + globalThis.process.version); globalThis.process.exit(1); }";

const OTHERS = ['release', 'dashboard'];
// Remove the earlier build from the output directory, but keep a release in it.
mkdirSync(outdir, { recursive: true });
const earlier = readdirSync(outdir);
if (earlier.some((name) => !OTHERS.includes(name)) && !earlier.includes('podwright.js'))
  throw new Error(`${outdir} has other files than a build, which would be removed`);
for (const name of earlier) if (name !== 'release') rmSync(join(outdir, name), { recursive: true });
const { metafile, page } = await bundle({
  outdir,
  entry: 'packages/cli/src/start.ts',
  // koffi and better-sqlite3 load prebuilt native files from node_modules, so they cannot be bundled.
  external: ['koffi', 'better-sqlite3'],
  sourcemap: 'linked',
  banner: {
    // The version check must run first, because an older Node.js lacks APIs that the bundle uses. Bundled CommonJS packages need `require`.
    js: `${requireNode} const require = (id) => process.getBuiltinModule(id) ?? process.getBuiltinModule('node:module').createRequire(import.meta.url)(id);`,
  },
});
// The compile cache is next to the bundle and just as protected, because write access to it allows changing the code that runs.
mkdirSync(join(outdir, 'cache'), { mode: PRIVATE_DIRECTORY });
if (process.argv[2] === undefined) {
  writePage(join(outdir, 'dashboard'), page); // for the command from the sources
  compile();
}

/**
 * Fills the compile cache for the user running the build. First runs commands, because that compiles more functions than loading alone; it
 * does not matter that they fail for lack of a node. Then loads the other entry points twice: without V8 flags, and like a daemon, whose V8
 * flags are set when the cache is enabled but reset before the code is loaded.
 */
function compile(): void {
  for (const command of COMMANDS) spawnSync(process.execPath, [join(outdir, 'podwright.js'), ...command]);
  const parts = Object.entries(metafile.outputs).flatMap(([file, { entryPoint }]) =>
    entryPoint !== undefined && !/\/(?:start|main)\.ts$/.test(entryPoint) ? [resolve(file)] : [],
  );
  const load = `process.getBuiltinModule('node:module').enableCompileCache(${JSON.stringify(resolve(outdir, 'cache'))});
    for (const flag of ${JSON.stringify(DEFAULT_FLAGS)}) process.getBuiltinModule('node:v8').setFlagsFromString(flag);
    for (const part of ${JSON.stringify(parts)}) await import(part);`;
  for (const flags of [[], DAEMON_FLAGS])
    spawnSync(process.execPath, [...flags, '--input-type=module', '--eval', load], { stdio: 'inherit' });
}
