import { errorMessage, type Logger, PodwrightError, runProgram, Timer } from '@podwright/base';

/** Tells systemd a line of sd_notify(3). */
export type Notify = (message: string) => Promise<void>;

/** systemd's watchdog is not fed more often than this: half of the least that upstream's kubelet takes. */
const MIN_WATCHDOG_MS = 1000;

/** What a daemon tells the service manager that started it; nothing where none asked. */
export class ServiceManager {
  readonly #notify: Notify | undefined;
  readonly #watchdogMs: number | undefined;
  readonly #logger: Logger;
  #isReady = false;
  #timer: Timer | undefined;

  constructor(given: { notify?: Notify; watchdogMs?: number; logger: Logger }) {
    this.#notify = given.notify;
    this.#watchdogMs = given.watchdogMs;
    this.#logger = given.logger;
  }

  /** The service is up. Only the first call says so. */
  async ready(status: string): Promise<void> {
    await this.#tell(this.#isReady ? `STATUS=${status}` : `READY=1\nSTATUS=${status}`);
    this.#isReady = true;
  }

  /** Notifies the watchdog at half of its timeout while `unhealthyReason` returns nothing. A second call replaces the function. */
  watch(unhealthyReason: () => string | undefined): void {
    if (this.#watchdogMs === undefined) return;
    const feed = () => {
      const problem = unhealthyReason();
      if (problem === undefined) return void this.#tell('WATCHDOG=1');
      this.#logger.error({ problem }, 'do not notify watchdog this iteration as the kubelet is reportedly not healthy');
    };
    this.#timer?.[Symbol.dispose]();
    const timer = new Timer(() => {
      feed();
      timer.refresh();
    }, this.#watchdogMs / 2);
    this.#timer = timer;
  }

  async stop(): Promise<void> {
    this.#timer?.[Symbol.dispose]();
    await this.#tell('STOPPING=1');
  }

  async #tell(message: string): Promise<void> {
    await this.#notify?.(message).catch((error: unknown) =>
      this.#logger.warn({ error: errorMessage(error) }, 'the service manager could not be told'),
    );
  }
}

/**
 * The service manager that the environment names, which then names it no more: container runtimes pass on what they find there to
 * containers. Throws `invalid_argument` for a watchdog that makes no sense.
 */
export function serviceManagerOf(environment: NodeJS.ProcessEnv, logger: Logger): ServiceManager {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: microseconds, WATCHDOG_PID: pid } = environment;
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete environment[name];
  if (socket === undefined) return new ServiceManager({ logger });
  const notify = (message: string) => systemdNotify(socket, message);
  if (microseconds === undefined || (pid !== undefined && pid !== String(process.pid)))
    return new ServiceManager({ notify, logger });
  const watchdogMs = Number(microseconds) / 1000;
  if (!(watchdogMs > MIN_WATCHDOG_MS)) {
    const what = `WATCHDOG_USEC=${microseconds.slice(0, 60)}`;
    throw new PodwrightError('invalid_argument', `${what}: a watchdog needs more than ${MIN_WATCHDOG_MS} ms`);
  }
  return new ServiceManager({ notify, watchdogMs, logger });
}

/** Node.js has no datagram sockets of the host's own kind; the program is where systemd is, and speaks for its parent. */
async function systemdNotify(socket: string, message: string): Promise<void> {
  const env = { PATH: process.env.PATH, NOTIFY_SOCKET: socket };
  const { exitCode, stderr } = await runProgram('systemd-notify', ['--no-block', ...message.split('\n')], { env });
  if (exitCode !== 0) throw new PodwrightError('internal', `systemd-notify: exit code ${exitCode}: ${stderr.trim()}`);
}
