import { type ErrorCode, PodwrightError } from '@podwright/base';
import { isJsonObject } from './json.ts';

/** The commands of the CNI protocol (spec section 2). */
export type CniCommand = 'ADD' | 'DEL' | 'CHECK' | 'GC' | 'STATUS' | 'VERSION';

/** The error that a plugin reported (spec section 5, "Error"). `cniCode` is undefined if the plugin's output did not have that format. */
export type PluginFailure = {
  plugin: string;
  command: CniCommand;
  cniCode: number | undefined;
  msg: string;
  details: string;
};

/** A failure of a plugin, as opposed to one of this client. */
export class PluginError extends PodwrightError {
  readonly failure: PluginFailure;

  constructor(failure: PluginFailure) {
    const { plugin, command, cniCode, msg, details } = failure;
    const number = cniCode === undefined ? '' : ` (CNI error ${cniCode})`;
    super(
      codeOf(cniCode, msg),
      `plugin ${plugin} failed on ${command}: ${msg}${details ? `: ${details}` : ''}${number}`,
    );
    this.name = 'PluginError';
    this.failure = failure;
  }
}

/** Returns the plugin's failure if `error` is a `PluginError` or was caused by one. */
export function pluginFailureOf(error: unknown): PluginFailure | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof PluginError) return cause.failure;
  }
  return undefined;
}

/**
 * Maps the reserved CNI codes that convey more than "failed" (see the table in section 5 of the specification). A full disk has no code of
 * its own, only the operating system's error message.
 */
function codeOf(cniCode: number | undefined, msg: string): ErrorCode {
  if (/no space left on device/i.test(msg)) return 'resource_exhausted';
  if (cniCode === 1) return 'failed_precondition';
  if (cniCode === 2 || cniCode === 7) return 'invalid_argument';
  if (cniCode === 11 || cniCode === 50 || cniCode === 51) return 'unavailable';
  return 'internal';
}

/**
 * Extracts a failed plugin's error message from its JSON error on stdout or, if there is none, from its raw output. `how` describes how the
 * plugin exited, in case it printed nothing.
 */
export function readFailure(
  call: { plugin: string; command: CniCommand },
  output: { stdout: string; stderr: string; how: string },
): PluginFailure {
  const stated = parseStated(output.stdout);
  if (stated !== undefined) return { ...call, ...stated };
  const texts = [output.stderr, output.stdout].map((text) => text.trim().slice(-2000)).filter((text) => text !== '');
  return { ...call, cniCode: undefined, msg: output.how, details: texts.join('; ') };
}

function parseStated(stdout: string): { cniCode: number | undefined; msg: string; details: string } | undefined {
  try {
    const value: unknown = JSON.parse(stdout);
    if (!isJsonObject(value) || typeof value.msg !== 'string') return undefined;
    const cniCode = Number.isInteger(value.code) ? (value.code as number) : undefined;
    const details = typeof value.details === 'string' ? value.details : '';
    return { cniCode, msg: value.msg.slice(0, 4000), details: details.slice(0, 4000) };
  } catch {
    return undefined; // other output, which the caller shows unchanged
  }
}
