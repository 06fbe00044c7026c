import { errorMessage, type Logger, PodwrightError, Timer } from '@podwright/base';
import { runProgram } from '@podwright/host';

/** Sends an sd_notify(3) message to systemd. */
export type Notify = (message: string) => Promise<void>;

/** The watchdog timeout must be longer than this, as in upstream (minimalNotifyInterval). */
const MIN_WATCHDOG_MS = 1000;

/** Notifies the service manager that started this daemon. No-op if the service manager did not request notifications. */
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

  /** Sends the status to the service manager; the first call also reports that the service is ready. */
  async ready(status: string): Promise<void> {
    await this.#send(this.#isReady ? `STATUS=${status}` : `READY=1\nSTATUS=${status}`);
    this.#isReady = true;
  }

  /** Notifies the watchdog twice per timeout while `unhealthyReason` returns `undefined`. Calling this again replaces the function. */
  watch(unhealthyReason: () => string | undefined): void {
    if (this.#watchdogMs === undefined) return;
    const notify = () => {
      const problem = unhealthyReason();
      if (problem === undefined) return void this.#send('WATCHDOG=1');
      this.#logger.error({ problem }, 'do not notify watchdog this iteration as the kubelet is reportedly not healthy');
    };
    this.#timer?.[Symbol.dispose]();
    const timer = new Timer(() => {
      notify();
      timer.refresh();
    }, this.#watchdogMs / 2);
    this.#timer = timer;
  }

  /** Stops notifying the watchdog. `restart`: the service is not stopping, because this process will re-execute its program. */
  async stop({ restart = false }: { restart?: boolean } = {}): Promise<void> {
    this.#timer?.[Symbol.dispose]();
    await this.#send(restart ? 'STATUS=restarting' : 'STOPPING=1');
  }

  async #send(message: string): Promise<void> {
    await this.#notify?.(message).catch((error: unknown) =>
      this.#logger.warn({ error: errorMessage(error) }, 'failed to notify the service manager'),
    );
  }
}

/**
 * Returns the service manager named in the environment. Removes its variables from the environment, because OCI runtimes pass their
 * environment on to containers. Throws `invalid_argument` if the watchdog timeout is invalid.
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

/** Calls systemd-notify(1), which exists on every host with systemd, since Node.js does not support Unix datagram sockets. */
async function systemdNotify(socket: string, message: string): Promise<void> {
  const env = { PATH: process.env.PATH, NOTIFY_SOCKET: socket };
  const { exitCode, stderr } = await runProgram('systemd-notify', ['--no-block', ...message.split('\n')], { env });
  if (exitCode !== 0) throw new PodwrightError('internal', `systemd-notify: exit code ${exitCode}: ${stderr.trim()}`);
}
