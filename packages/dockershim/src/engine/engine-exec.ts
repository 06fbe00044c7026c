import * as z from 'zod';
import type { EngineHttp, HijackedConnection } from './engine-http.ts';

/** A command to run in a container. */
export type ExecSpec = {
  AttachStdin: boolean;
  AttachStdout: boolean;
  AttachStderr: boolean;
  Tty: boolean;
  Cmd: string[];
  Env?: string[];
};

const created = z.object({ Id: z.string() });
const inspection = z.object({
  Running: z.boolean(),
  ExitCode: z
    .number()
    .nullish()
    .transform((code) => code ?? undefined),
  Pid: z
    .number()
    .nullish()
    .transform((pid) => pid ?? 0),
});

/** The state of an exec. The exit code is set once the command has exited; the PID on the host is 0 until the command has started. */
export type ExecInspection = z.infer<typeof inspection>;

/** Creates and starts execs, and attaches to the streams of containers. */
export class EngineExec {
  readonly #http: EngineHttp;

  constructor(http: EngineHttp) {
    this.#http = http;
  }

  /** Creates an exec in a container and returns the exec's ID. */
  async create(containerId: string, spec: ExecSpec, signal?: AbortSignal): Promise<string> {
    const path = `/containers/${encodeURIComponent(containerId)}/exec`;
    const call = {
      what: `run a command in container ${containerId}`,
      method: 'POST',
      path,
      body: { ...spec, DetachKeys: EXEC_DETACH_KEYS },
      changesNothing: true,
      signal,
    } as const;
    return (await this.#http.json(call, (value) => created.parse(value))).Id;
  }

  /** Starts an exec. The connection carries its output and its unframed input. */
  async start(execId: string, tty: boolean, signal?: AbortSignal): Promise<HijackedConnection> {
    const path = `/exec/${execId}/start`;
    return await this.#http.hijack({
      ...{ what: 'start a command', method: 'POST', path, body: { Detach: false, Tty: tty }, signal },
    });
  }

  async inspect(execId: string, signal?: AbortSignal): Promise<ExecInspection> {
    const call = { what: 'inspect a command', method: 'GET', path: `/exec/${execId}/json`, signal } as const;
    return await this.#http.json(call, (value) => inspection.parse(value));
  }

  /** Sets the size of the exec's terminal, in characters. Fails if the command is not running yet. */
  async resize(execId: string, size: { columns: number; rows: number }, signal?: AbortSignal): Promise<void> {
    const query = { w: size.columns, h: size.rows };
    const call = { what: "resize a command's terminal", method: 'POST', path: `/exec/${execId}/resize` } as const;
    await this.#http.done({ ...call, query, changesNothing: true, signal });
  }

  /** Attaches to the streams of a container's main process. Earlier output is not included. */
  async attach(
    containerId: string,
    streams: { stdin: boolean; stdout: boolean; stderr: boolean },
    signal?: AbortSignal,
  ) {
    const query = Object.entries({ stream: true, ...streams, detachKeys: ATTACH_DETACH_KEYS });
    const path = `/containers/${encodeURIComponent(containerId)}/attach?${query.map((pair) => pair.join('=')).join('&')}`;
    // send no body: the Engine does not read it, so its bytes would become the container's input
    return await this.#http.hijack({ what: `attach to container ${containerId}`, method: 'POST', path, signal });
  }
}

/**
 * The detach sequence for attach sessions on a terminal. The Engine always has one, and holds back input that might be the start of it.
 * This sequence cannot be typed, because its bytes never occur in UTF-8. Percent-encoded for use in a query string.
 */
const ATTACH_DETACH_KEYS = '%FF,%FE,%FF,%FD,%FF,%FE,%FF,%FC';
/** The detach sequence for execs, where the Engine accepts only names of control characters. */
const EXEC_DETACH_KEYS = 'ctrl-^,ctrl-@,ctrl-_,ctrl-^,ctrl-@,ctrl-^,ctrl-_,ctrl-^';
