import type { CallContext } from '@podwright/grpc';
import type { EngineStartup } from './engine-startup.ts';

type Handler = (request: never, context: CallContext) => unknown;
type Service = { method: Record<string, { methodKind: string }> };

/** Wraps handlers so that calls wait for startup to succeed. While startup is failing, each call retries it and fails with its error. */
export function afterStartup<H extends object>(service: Service, handlers: H, startup: EngineStartup): H {
  const wrapped = Object.entries(handlers as Record<string, Handler>).map(([name, handler]) => [
    name,
    service.method[name]?.methodKind === 'unary' ? unary(handler, startup) : stream(handler, startup),
  ]);
  return Object.fromEntries(wrapped) as H;
}

function unary(handler: Handler, startup: EngineStartup): Handler {
  return async (request, context) => {
    await startup.done(context.signal);
    return await handler(request, context);
  };
}

function stream(handler: Handler, startup: EngineStartup): Handler {
  return (request, context) => {
    // call the handler synchronously: once the client sees its stream open, it must not miss events
    if (startup.isDone) return handler(request, context);
    return (async function* () {
      await startup.done(context.signal);
      yield* handler(request, context) as AsyncIterable<unknown>;
    })();
  };
}
