import type { CallContext } from '@podwright/cri';
import type { Beginning } from './beginning.ts';

type Handler = (request: never, context: CallContext) => unknown;
type Service = { method: Record<string, { methodKind: string }> };

/** The handlers, each called only once everything has begun; before that, calls try to begin, and answer why it does not work. */
export function onceBegun<H extends object>(service: Service, handlers: H, beginning: Beginning): H {
  const wrapped = Object.entries(handlers as Record<string, Handler>).map(([name, handler]) => [
    name,
    service.method[name]?.methodKind === 'unary' ? unary(handler, beginning) : stream(handler, beginning),
  ]);
  return Object.fromEntries(wrapped) as H;
}

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
