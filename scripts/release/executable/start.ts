/** The main script of the single executable: starts the command from the embedded chunks. */
import { daemonFlags } from '../../../packages/cli/src/daemon/daemon-flags.ts';
import { usesFastStart } from '../../../packages/cli/src/settings/fast-start.ts';
import { isVersionCall, printVersion } from '../../../packages/cli/src/version-call.ts';
import { becomeDaemon, settleDaemon } from './become-daemon.ts';
import { chunkLoader } from './chunk-loader.ts';
import { loadNativePart } from './native-part.ts';
import { openPayload } from './payload.ts';

const args = process.argv.slice(2);
if (isVersionCall(args)) printVersion();
else start();

function start(): void {
  // `gc` is only defined under --expose-gc, which is set by becomeDaemon or by the caller.
  const isDaemon = globalThis.gc !== undefined;
  const flags = daemonFlags(args);
  if (isDaemon) settleDaemon(usesFastStart(args));
  else if (flags.length > 0) becomeDaemon(args, flags);
  const part = openPayload();
  const needed = (name: string) => {
    const content = part(name);
    if (content === undefined) throw new Error(`load ${name}: the executable does not contain it`);
    return content;
  };
  const usesCode = !isDaemon && usesFastStart(args);
  const load = chunkLoader({
    source: (name) => needed(name).toString('latin1'),
    code: (name) => (usesCode ? part(`${name}.code`) : undefined),
    native: (name) => loadNativePart(name, () => needed(name)),
  });
  const { main } = load('podwright.js') as { main: () => Promise<void> };
  void main();
}
