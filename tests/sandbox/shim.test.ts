import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeSandbox } from '../../packages/runtime/src/cri/sandbox-description.ts';
import { testSandboxController } from '../../packages/runtime/src/sandbox/sandbox.suite.ts';
import { ShimController } from '../../packages/runtime/src/sandbox/shim-controller.ts';
import { Shims } from '../../packages/runtime/src/shim/shims.ts';
import { makeSandboxParts } from './place.fixture.ts';

const SHIM = new URL('./sandbox-shim.ts', import.meta.url).pathname;

async function open(state: string) {
  const path = join(state, 'test-shim');
  if (!existsSync(path)) {
    writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${SHIM}' "$@"\n`);
    chmodSync(path, 0o755);
  }
  const parts = makeSandboxParts(state);
  const shims = await Shims.open({ state: join(state, 'shim'), logger: parts.logger });
  const programFor = () => ({ path });
  const controller = new ShimController({ ...parts, shims, programFor, describe: describeSandbox });
  const close = async () => {
    controller.close();
    await shims.close();
  };
  return { controller, close, userNamespaces: false };
}

await testSandboxController(open);
