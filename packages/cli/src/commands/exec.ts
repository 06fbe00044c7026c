import { PodwrightError } from '@podwright/base';
import { runRemoteCommand, type TerminalSize } from '@podwright/streaming';
import type { CommandContext } from '../settings/node-config.ts';

export type ExecOptions = { namespace: string; container?: string; stdin?: boolean; tty?: boolean };

/** `podwright exec POD -- COMMAND`: returns the command's exit code. */
export async function exec(
  { config }: CommandContext,
  target: { pod: string; command: string[] },
  options: ExecOptions,
): Promise<number> {
  if (target.command.length === 0) {
    throw new PodwrightError(
      'invalid_argument',
      `exec: what to run? 'podwright exec ${target.pod} -- COMMAND', for a shell 'podwright exec -it ${target.pod} -- sh'`,
    );
  }
  const tty = options.tty === true && process.stdin.isTTY;
  if (options.tty && !tty) console.error('podwright: standard input is no terminal, so the command gets none either');
  const query = new URLSearchParams(target.command.map((argument): [string, string] => ['command', argument]));
  if (options.container !== undefined) query.set('container', options.container);
  for (const [name, wanted] of [
    ['stdin', options.stdin],
    ['stdout', true],
    ['stderr', !tty],
    ['tty', tty],
  ] as const) {
    if (wanted) query.set(name, 'true');
  }
  const path = `/api/v1/namespaces/${encodeURIComponent(options.namespace)}/pods/${encodeURIComponent(target.pod)}/exec?${query}`;
  using _raw = tty ? rawTerminal() : undefined;
  const exitCode = await runRemoteCommand(
    { socketPath: config.apiSocket, path },
    {
      stdin: options.stdin ? process.stdin : undefined,
      stdout: process.stdout,
      stderr: process.stderr,
      tty,
      resize: tty ? watchTerminalSize : undefined,
    },
  );
  process.stdin.destroy(); // an idle terminal or pipe must not keep the command from ending
  return exitCode;
}

/** Keys go to the command as they are typed, Ctrl-C too. */
function rawTerminal(): Disposable {
  process.stdin.setRawMode(true);
  return { [Symbol.dispose]: () => process.stdin.setRawMode(false) };
}

function watchTerminalSize(listener: (size: TerminalSize) => void): Disposable {
  const tell = () => listener({ Width: process.stdout.columns, Height: process.stdout.rows });
  process.stdout.on('resize', tell);
  tell();
  return { [Symbol.dispose]: () => process.stdout.off('resize', tell) };
}
