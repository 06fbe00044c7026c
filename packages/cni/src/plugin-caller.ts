import { stat } from 'node:fs/promises';
import { errorMessage, type TraceWork, withTimeout, wrapError } from '@podwright/base';
import { findProgram, type ProgramStarter } from '@podwright/host';
import type { Attachment } from './attachment.ts';
import { isJsonObject } from './json.ts';
import type { NetworkList, PluginConfig } from './network-list.ts';
import { type CniCommand, PluginError, readFailure } from './plugin-error.ts';
import { missingPluginsError } from './plugin-path.ts';
import { type PluginOutput, runPlugin } from './plugin-process.ts';
import { buildEnvironment, buildRequest, type RequestExtras } from './request.ts';
import { CURRENT_VERSION, OLDEST_VERSION } from './versions.ts';

/** A finished plugin run, for logs and traces. `error` is undefined if it succeeded. */
export type ObservedCall = {
  command: CniCommand;
  plugin: string;
  containerId: string | undefined;
  durationMs: number;
  error: string | undefined;
};
export type CallObserver = (call: ObservedCall) => void;

export type PluginCall = {
  command: Exclude<CniCommand, 'VERSION'>;
  network: NetworkList;
  plugin: PluginConfig;
  attachment?: Attachment;
  extras?: RequestExtras;
  timeoutMs: number;
};

/** Finds plugins, runs them with a deadline, and converts their failures to errors. */
export class PluginCaller {
  readonly #directories: string[];
  readonly #onCall: CallObserver | undefined;
  readonly #start: ProgramStarter;
  readonly #trace: TraceWork;
  readonly #versions = new Map<string, ReadonlySet<string>>();

  constructor(
    directories: string[],
    { onCall, start, trace }: { onCall?: CallObserver | undefined; start: ProgramStarter; trace: TraceWork },
  ) {
    this.#directories = directories;
    this.#onCall = onCall;
    this.#start = start;
    this.#trace = trace;
  }

  /**
   * Runs a plugin and returns its stdout. Throws a `PluginError` if the plugin failed. If it was killed, throws `deadline_exceeded` or the
   * signal's abort reason.
   */
  async call(call: PluginCall, signal: AbortSignal): Promise<string> {
    const { command, network, plugin, attachment } = call;
    const environment = buildEnvironment(command, this.#directories, attachment);
    const stdin = JSON.stringify(buildRequest(network, plugin, call.extras));
    const startedMs = performance.now();
    const report = (error?: unknown) =>
      this.#onCall?.({
        command,
        plugin: plugin.type,
        containerId: attachment?.containerId,
        durationMs: performance.now() - startedMs,
        error: error === undefined ? undefined : errorMessage(error),
      });
    try {
      const output = await this.#run({
        command,
        type: plugin.type,
        environment,
        stdin,
        timeoutMs: call.timeoutMs,
        signal,
      });
      if (output.exitCode !== 0) throw failed(plugin.type, command, output);
      report();
      return output.stdout;
    } catch (error) {
      report(error);
      throw error;
    }
  }

  /** Returns the versions that a plugin supports. A plugin without the VERSION command predates 0.2.0. */
  async supportedVersions(
    type: string,
    { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
  ): Promise<ReadonlySet<string>> {
    const path = this.#find(type);
    const key = `${path} ${(await stat(path)).mtimeMs}`; // the program may be replaced
    const known = this.#versions.get(key);
    if (known !== undefined) return known;
    const environment = buildEnvironment('VERSION', this.#directories);
    const stdin = JSON.stringify({ cniVersion: CURRENT_VERSION });
    const output = await this.#run({ command: 'VERSION', type, environment, stdin, timeoutMs, signal });
    const versions = readVersions(output);
    this.#versions.set(key, versions);
    return versions;
  }

  #find(type: string): string {
    const path = findProgram(type, this.#directories);
    if (path === undefined) throw missingPluginsError([type], this.#directories);
    return path;
  }

  async #run(run: {
    command: CniCommand;
    type: string;
    environment: Record<string, string>;
    stdin: string;
    timeoutMs: number;
    signal: AbortSignal;
  }): Promise<PluginOutput> {
    const path = this.#find(run.type);
    const what = `plugin ${run.type} on ${run.command}`;
    using signal = withTimeout(run.signal, run.timeoutMs, what);
    try {
      const { environment, stdin } = run;
      return await this.#trace(`CNI ${run.command} ${run.type}`, () =>
        runPlugin({ path, environment, stdin, signal, start: this.#start }),
      );
    } catch (error) {
      throw wrapError(what, error);
    }
  }
}

function failed(plugin: string, command: CniCommand, output: PluginOutput): PluginError {
  const how = output.signal === null ? `exit code ${output.exitCode}` : `killed by ${output.signal}`;
  return new PluginError(readFailure({ plugin, command }, { ...output, how }));
}

function readVersions(output: PluginOutput): ReadonlySet<string> {
  try {
    const answer: unknown = JSON.parse(output.stdout);
    const versions: unknown = isJsonObject(answer) ? answer.supportedVersions : undefined;
    if (output.exitCode === 0 && Array.isArray(versions))
      return new Set(versions.filter((version): version is string => typeof version === 'string'));
  } catch {
    // the output is not the result of a VERSION command, so the plugin is assumed to predate it
  }
  return new Set([OLDEST_VERSION]);
}
