import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeSandbox } from '../../packages/runtime/src/cri/messages/sandbox-description.ts';
import { ShimController } from '../../packages/runtime/src/sandbox/shim-controller.ts';
import { Shims } from '../../packages/shim/src/shims.ts';
import { makeSandboxParts } from './place.fixture.ts';

const SHIM = new URL('./sandbox-shim.ts', import.meta.url).pathname;

export function makeTestShim(directory: string): string {
  const path = join(directory, 'test-shim');
  if (existsSync(path)) return path;
  writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${SHIM}' "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Opens a controller that uses the test shim for every handler. */
export async function openShimController(state: string, options: { graceMs?: number } = {}) {
  const path = makeTestShim(state);
  const parts = makeSandboxParts(state);
  const shims = await Shims.open({ state: join(state, 'shims'), logger: parts.logger });
  const programFor = () => ({ path });
  const controller = new ShimController({ ...parts, ...options, shims, programFor, describe: describeSandbox });
  const close = async () => {
    controller.close();
    await shims.close();
  };
  return { controller, close };
}
