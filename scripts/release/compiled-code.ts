/** Compiled code of the chunks that commands load, which makes commands start faster. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { COMMANDS } from '../compiled-commands.ts';

/** Compiled code contains V8 counters, which must not depend on a compile cache or other settings of the caller. */
const ENVIRONMENT = { PATH: process.env.PATH, NODE_DISABLE_COMPILE_CACHE: '1' };

/** Runs commands one after another, each using the code compiled by the previous ones. Failures are ignored, because there is no node. */
export function compileCode(program: string[], { chunks, code }: { chunks: string; code: string }): void {
  const [node = '', ...flags] = program;
  for (const command of COMMANDS) {
    const args = [...flags, '--random-seed=1', 'scripts/release/executable/record-code.ts', chunks, code, ...command];
    const { error } = spawnSync(node, args, { stdio: 'ignore', env: ENVIRONMENT });
    if (error !== undefined) throw error;
  }
  if (readdirSync(code).length === 0) throw new Error('no command of the bundle could be run to compile its code');
}
