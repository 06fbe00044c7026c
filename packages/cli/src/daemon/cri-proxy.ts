import { createLogger, DAEMON_UMASK } from '@podwright/base';
import { boundedOutput, startCriProxy } from '@podwright/cri-proxy';
import { parseEndpoint } from '@podwright/grpc';
import { onStopSignal } from './stop-signals.ts';

/** Options of `podwright cri-proxy`. */
export type CriProxyFlags = {
  listen: string;
  to: string;
  method?: string[];
  pod?: string[];
  bodies?: boolean;
  record?: string;
  output: 'table' | 'json' | 'none';
};

/** `podwright cri-proxy`: passes calls to a runtime until a signal stops it. Exit code: 1 if the recording is not whole. */
export async function runCriProxy(flags: CriProxyFlags): Promise<number> {
  const { output: format, bodies = false, method: methods = [], pod: pods = [] } = flags;
  process.umask(DAEMON_UMASK);
  const logger = createLogger({ name: 'cri-proxy', level: 'warn' });
  const stopped = Promise.withResolvers<void>();
  onStopSignal(logger, () => stopped.resolve());
  const proxy = await startCriProxy({
    socket: flags.listen,
    to: parseEndpoint(flags.to),
    logger,
    record: flags.record,
    display: format === 'none' ? undefined : { format, bodies, methods, pods, write: boundedOutput(process.stdout) },
  });
  await stopped.promise;
  const { isWhole } = await proxy.close();
  return isWhole ? 0 : 1;
}
