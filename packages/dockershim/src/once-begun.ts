import type { CallContext } from '@podwright/cri';
import type { Beginning } from './beginning.ts';

type Handler = (request: never, context: CallContext) => unknown;

/** The handlers, each called only once everything has begun; before that, calls try to begin, and answer why it does not work. */
export function onceBegun<H extends object>(handlers: H, beginning: Beginning): H {
  const wrapped = Object.entries(handlers as Record<string, Handler>).map(([name, handler]) => [
    name,
    STREAMS.has(name) ? stream(handler, beginning) : unary(handler, beginning),
  ]);
  return Object.fromEntries(wrapped) as H;
}

/** Verbs that answer with more than one message. */
const STREAMS: ReadonlySet<string> = new Set([
  'streamPodSandboxes',
  'streamContainers',
  'streamContainerStats',
  'streamPodSandboxStats',
  'streamPodSandboxMetrics',
  'streamImages',
  'getContainerEvents',
  'watch',
  'load',
]);

function unary(handler: Handler, beginning: Beginning): Handler {
  return async (request, context) => {
    await beginning.done(context.signal);
    return await handler(request, context);
  };
}

function stream(handler: Handler, beginning: Beginning): Handler {
  return (request, context) => {
    // at once, as who is told that it listens misses nothing from then on
    if (beginning.isDone) return handler(request, context);
    return (async function* () {
      await beginning.done(context.signal);
      yield* handler(request, context) as AsyncIterable<unknown>;
    })();
  };
}
