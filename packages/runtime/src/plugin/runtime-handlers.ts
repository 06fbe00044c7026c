import { PodwrightError } from '@podwright/base';
import type { HandlerOptions, RuntimeOptions } from '../options.ts';

/** Options that say which runtime handlers there are. */
export type HandlerChoice = Pick<RuntimeOptions, 'handlers' | 'defaultHandler' | 'ociRuntime'>;

/**
 * Every runtime handler by name, '' for pods that ask for none. A known OCI runtime that `works` here is a handler by its
 * name unless the options give that name to another. `program` is filled in; '' is left only for the default handler,
 * where it means the first OCI runtime that works. `invalid_argument` if the default handler is none of them.
 */
export function runtimeHandlers(options: HandlerChoice, works: readonly string[]): Map<string, HandlerOptions> {
  const found = works.map((name): [string, HandlerOptions] => [name, ociHandler(name)]);
  const given = Object.entries(options.handlers ?? {}).map(([name, handler]): [string, HandlerOptions] => [
    name,
    { ...handler, program: handler.program === '' ? name : handler.program },
  ]);
  const named = new Map([...found, ...given]);
  return new Map([['', defaultOf(named, options)], ...named]);
}

/** Names and paths of the OCI runtimes that configured handlers use. */
export function ociProgramsOf({ handlers = {} }: HandlerChoice): string[] {
  return [...runtimeHandlers({ handlers, ociRuntime: '' }, []).values()]
    .filter(({ task, program }) => task === 'oci' && program !== '')
    .map(({ program }) => program);
}

const ociHandler = (program: string): HandlerOptions => ({ task: 'oci', program, sandbox: 'pinned' });

function defaultOf(named: Map<string, HandlerOptions>, options: HandlerChoice): HandlerOptions {
  const { defaultHandler = '', ociRuntime } = options;
  if (defaultHandler === '') return ociHandler(ociRuntime);
  const handler = named.get(defaultHandler);
  if (handler !== undefined) return handler;
  throw new PodwrightError(
    'invalid_argument',
    `the default runtime handler "${defaultHandler}" is not there; there is ${[...named.keys()].join(', ') || 'none'}`,
  );
}
