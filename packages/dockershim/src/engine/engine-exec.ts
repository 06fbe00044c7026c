import * as z from 'zod';
import type { EngineHttp, HijackedConnection } from './engine-http.ts';

/** A command to be run in a container. */
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

/** How a command stands; the exit code is there once it has ended, the process id (of the host; 0 before) once it has started. */
export type ExecInspection = z.infer<typeof inspection>;

/** Commands in containers, and their streams and those of containers themselves. */
export class EngineExec {
  readonly #http: EngineHttp;

  constructor(http: EngineHttp) {
    this.#http = http;
  }

  /** Prepares a command in a container and gives its id. */
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

  /** Starts a prepared command. The connection carries its output and, raw, its input. */
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

  /** Gives the command's terminal a size, in characters; before the command runs that is an error. */
  async resize(execId: string, size: { columns: number; rows: number }, signal?: AbortSignal): Promise<void> {
    const query = { w: size.columns, h: size.rows };
    const call = { what: "resize a command's terminal", method: 'POST', path: `/exec/${execId}/resize` } as const;
    await this.#http.done({ ...call, query, changesNothing: true, signal });
  }

  /** The streams of a container's own process from now on. */
  async attach(
    containerId: string,
    streams: { stdin: boolean; stdout: boolean; stderr: boolean },
    signal?: AbortSignal,
  ) {
    const query = Object.entries({ stream: true, ...streams, detachKeys: ATTACH_DETACH_KEYS });
    const path = `/containers/${encodeURIComponent(containerId)}/attach?${query.map((pair) => pair.join('=')).join('&')}`;
    // no body: what the Engine does not read of one would be the container's input
    return await this.#http.hijack({ what: `attach to container ${containerId}`, method: 'POST', path, signal });
  }
}

/**
 * The Engine ends a session on a terminal at keys that it looks for, which cannot be switched off, and holds back what may be their
 * beginning. These are keys that nobody types: of an attachment bytes that no UTF-8 has, here as part of a query.
 */
const ATTACH_DETACH_KEYS = '%FF,%FE,%FF,%FD,%FF,%FE,%FF,%FC';
/** The same for a command, of which the Engine takes names of control characters only. */
const EXEC_DETACH_KEYS = 'ctrl-^,ctrl-@,ctrl-_,ctrl-^,ctrl-@,ctrl-^,ctrl-_,ctrl-^';
