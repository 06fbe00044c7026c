import { readFileSync } from 'node:fs';
import { createLogger, DAEMON_UMASK, PodwrightError, wrapError } from '@podwright/base';
import {
  boundedOutput,
  type CriProxyOptions,
  criMethodNames,
  criMethods,
  parseScript,
  plainLine,
  type Recording,
  readRecording,
  startCriProxy,
} from '@podwright/cri-proxy';
import { parseEndpoint } from '@podwright/grpc';
import { onStopSignal } from './stop-signals.ts';

/** Options of `podwright cri-proxy`. */
export type CriProxyFlags = {
  listen: string;
  to?: string;
  replay?: string;
  method?: string[];
  pod?: string[];
  bodies?: boolean;
  record?: string;
  script?: string;
  seed?: number;
  output: 'table' | 'json' | 'none';
};

async function readReplay(file: string): Promise<Recording> {
  const recording = await readRecording(file, criMethods());
  for (const warning of recording.warnings) process.stderr.write(`${plainLine(`${file}: ${warning}`)}\n`);
  return recording;
}

/**
 * `podwright cri-proxy`: forwards calls to a runtime, or answers them from a recording, until a signal stops it. Returns the exit code: 1
 * if the recording written by `--record` is missing calls.
 */
export async function runCriProxy(flags: CriProxyFlags): Promise<number> {
  if ((flags.to === undefined) === (flags.replay === undefined))
    throw new PodwrightError('invalid_argument', 'cri-proxy: either --to or --replay is needed');
  const { output: format, bodies = false, method: methods = [], pod: pods = [] } = flags;
  const script = flags.script === undefined ? undefined : readScript(flags.script, flags.seed);
  process.umask(DAEMON_UMASK);
  const logger = createLogger({ name: 'cri-proxy', level: 'warn' });
  const stopped = Promise.withResolvers<void>();
  onStopSignal(logger, () => stopped.resolve());
  const proxy = await startCriProxy({
    socket: flags.listen,
    to: flags.replay === undefined ? parseEndpoint(flags.to!) : await readReplay(flags.replay),
    logger,
    record: flags.record,
    script,
    display: format === 'none' ? undefined : { format, bodies, methods, pods, write: boundedOutput(process.stdout) },
  });
  await stopped.promise;
  const { isWhole } = await proxy.close();
  return isWhole ? 0 : 1;
}

/** Reads a script. The seed for its random choices comes from the flag or from the script; otherwise, a random one is used and printed. */
function readScript(file: string, seedFlag: number | undefined): CriProxyOptions['script'] {
  const script = parseScript(textOf(file), { name: file, methods: criMethodNames() });
  const seed = seedFlag ?? script.seed ?? Math.floor(Math.random() * 2 ** 32);
  if (seedFlag === undefined && script.seed === undefined) process.stderr.write(`seed of the script: ${seed}\n`);
  return { script, seed };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw wrapError(`read the script ${file}`, error);
  }
}
