import { PodwrightError } from '@podwright/base';
import type { OciProgram } from '../oci-runtime/oci-program.ts';
import { isRequested, type OciRuntimeFinding } from '../oci-runtime/oci-runtimes.ts';
import type { HandlerOptions, RuntimeOptions } from '../options.ts';
import { shimBinary } from '../tasks/shim/handler-shims.ts';

/** Options that determine which runtime handlers exist and which one is the default. */
export type HandlerChoice = Pick<RuntimeOptions, 'handlers' | 'defaultHandler' | 'ociRuntime'>;

/**
 * Returns all runtime handlers by name; '' is the handler for pods without a RuntimeClass. Every working OCI runtime that is known or
 * configured is also a handler under its own name, unless a handler with the same name is configured. `program` is always set, except for
 * the default handler, where '' means the first OCI runtime that works. Throws `invalid_argument` if the configured default handler does
 * not exist.
 */
export function runtimeHandlers(options: HandlerChoice, findings: OciRuntimeFinding[]): Map<string, HandlerOptions> {
  const works = findings.filter((finding) => finding.works && isRequested(finding, ''));
  const named = new Map([
    ...works.map(({ name }): [string, HandlerOptions] => [name, ociHandler(name)]),
    ...Object.entries(options.handlers ?? {}).map(([name, handler]): [string, HandlerOptions] => [
      name,
      { ...handler, program: programOf(name, handler) },
    ]),
  ]);
  return new Map([['', defaultOf(named, options)], ...named]);
}

/** Returns the names and paths of the configured handlers' OCI runtimes. */
export function handlerPrograms({ handlers = {} }: HandlerChoice): string[] {
  return Object.entries(handlers)
    .filter(([, { task }]) => task === 'oci')
    .map(([name, handler]) => programOf(name, handler));
}

/** Returns each handler's OCI runtime, omitting handlers whose OCI runtime does not work. */
export function ociPrograms(
  handlers: ReadonlyMap<string, HandlerOptions>,
  findings: OciRuntimeFinding[],
): Record<string, OciProgram> {
  const found = [...handlers].flatMap(([name, handler]) => {
    const finding = findingOf(handler, findings);
    return finding?.works ? [[name, finding.program] as const] : [];
  });
  return Object.fromEntries(found);
}

/** Returns a handler's OCI runtime if it works; otherwise `undefined`. */
export function findingOf(
  { task, program }: HandlerOptions,
  findings: OciRuntimeFinding[],
): OciRuntimeFinding | undefined {
  if (task !== 'oci') return undefined;
  return findings.find((finding) => finding.works && isRequested(finding, program));
}

function programOf(name: string, { task, program }: HandlerOptions): string {
  if (task === 'shim-v2') return shimBinary(name, program);
  return program === '' ? name : program;
}

const ociHandler = (program: string): HandlerOptions => ({ task: 'oci', program, sandbox: 'pinned' });

function defaultOf(named: Map<string, HandlerOptions>, options: HandlerChoice): HandlerOptions {
  const { defaultHandler = '', ociRuntime } = options;
  if (defaultHandler === '') return ociHandler(ociRuntime);
  const handler = named.get(defaultHandler);
  if (handler !== undefined) return handler;
  throw new PodwrightError(
    'invalid_argument',
    `the default runtime handler "${defaultHandler}" does not exist; available: ${[...named.keys()].join(', ') || 'none'}`,
  );
}
